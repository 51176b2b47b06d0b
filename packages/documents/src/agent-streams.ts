/** Decodes the output of other agents to run events. */
export {
  agentStreamFormats,
  createAgentStreamDecoder,
  type AgentStreamDecoder,
  type AgentStreamFormat,
  type AgentStreamOptions,
  type AgentStreamReport,
} from "./agent-streams/agent-stream.ts";
export { findStreamFormat, type StreamFormat } from "./find-format.ts";
export { findLostFields } from "./agent-streams/lost-fields.ts";
