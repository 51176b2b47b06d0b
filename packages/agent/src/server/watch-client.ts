/** Whether somebody still waits for an answer. */
import type { Context } from "hono";
import type { ServerEnvironment } from "./server-context.ts";

/** Aborted when the client goes away before its answer is complete. */
export function watchClient(context: Context<ServerEnvironment>): AbortSignal {
  const controller = new AbortController();
  const { outgoing } = context.env;
  const leave = (): void => {
    if (!outgoing.writableFinished) controller.abort(new Error("the client went away"));
  };
  if (outgoing.destroyed) leave();
  else outgoing.on("close", leave);
  return controller.signal;
}
