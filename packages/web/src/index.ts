/** The page. */
export type { ChatResponse } from "@sheaf/client";
