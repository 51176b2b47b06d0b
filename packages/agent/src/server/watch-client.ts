/** Whether somebody still waits for an answer. */
import type { Context } from "hono";
import type { ServerEnvironment } from "./server-context.ts";

/** Aborted when the client goes away before its answer is complete. */
export function watchClient(context: Context<ServerEnvironment>): AbortSignal {
  const controller = new AbortController();
  const { outgoing } = context.env;
  outgoing.on("close", () => {
    if (!outgoing.writableFinished) controller.abort(new Error("the client went away"));
  });
  return controller.signal;
}
