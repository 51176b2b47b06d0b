/** Streams of other agents: from what they print to run events. */
export {
  createCursorStreamDecoder,
  type CursorStreamDecoder,
  type CursorStreamOptions,
  type CursorStreamReport,
} from "./agent-streams/cursor-stream.ts";
