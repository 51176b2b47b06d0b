/** Streams of other agents: from their output to run events. */
export {
  createCursorStreamDecoder,
  type CursorStreamDecoder,
  type CursorStreamOptions,
  type CursorStreamReport,
} from "./agent-streams/cursor-stream.ts";
