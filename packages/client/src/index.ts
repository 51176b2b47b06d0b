/** Client of the Chat API. */
export type { ChatResponse, StreamEvent } from "@sheaf/protocol";
