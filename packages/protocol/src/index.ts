export type * from "./chat.ts";
export type * from "./cli-events.ts";
export { cliSchemaVersion } from "./cli-events.ts";
export type * from "./documents.ts";
export type * from "./run-events.ts";
export type * from "./stream-events.ts";
export { baseEventNames, protocolVersion } from "./stream-events.ts";
