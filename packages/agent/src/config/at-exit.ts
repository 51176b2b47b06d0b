/** Calls a function when this process exits, after `process.exit`, a second signal or an uncaught error. */
export function atExit(end: () => void): () => void {
  // A server has as many as it runs commands.
  process.setMaxListeners(0);
  process.on("exit", end);
  return () => void process.off("exit", end);
}
