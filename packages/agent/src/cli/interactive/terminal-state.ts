/** The terminal is left as it was found. */

/** However the process ends (but by SIGKILL), keys are shown again and the cursor is visible. */
export function keepTerminalClean(): void {
  process.on("exit", () => {
    if (process.stdin.isRaw) process.stdin.setRawMode(false);
    process.stdout.write("\u001B[?25h");
  });
  // While a run goes on, its own handlers come first; at the prompt these end the program.
  for (const [name, code] of [
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const) {
    process.on(name, () => {
      if (process.listenerCount(name) === 1) process.exit(code);
    });
  }
}
