import { spawn } from "node:child_process";
import { onTestFinished } from "vitest";

/** Starts a process that has the lock of a file. Returns how to kill it. */
export async function startHolder(file: string): Promise<() => void> {
  const program = `const { DatabaseSync } = require("node:sqlite");
    new DatabaseSync(process.argv[1]).exec("BEGIN EXCLUSIVE"); console.log("held"); setInterval(() => {}, 1000);`;
  const holder = spawn(process.execPath, ["--no-warnings", "-e", program, `${file}.lock`]);
  onTestFinished(() => void holder.kill("SIGKILL"));
  await new Promise((resolve) => holder.stdout.once("data", resolve));
  return () => void holder.kill("SIGKILL");
}
