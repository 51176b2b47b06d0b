/** Calls a function when this process exits, however it can notice: `process.exit`, a second signal, an error that nobody caught. */
export function atExit(end: () => void): () => void {
  // A server has as many as it runs commands.
  process.setMaxListeners(0);
  process.on("exit", end);
  return () => void process.off("exit", end);
}
