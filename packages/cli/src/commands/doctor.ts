/** `sheaf doctor`: whether this machine is ready, and what to do where it is not. */
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import type { ParsedArguments } from "../arguments.ts";
import { toCommandFormat } from "../command-flags.ts";
import { runChecks, type CheckResult } from "../doctor/checks.ts";
import type { CommandIo } from "../io.ts";
import { printJson, printText } from "../standard-output.ts";

/** Prints every check; exit code 1 when one of them failed. @throws SheafError USAGE. */
export async function runDoctor(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const isJson = toCommandFormat(parsed) === "json";
  const results = await runChecks(io, parsed.flags);
  const ok = results.every(({ status }) => status !== "fail");
  const code = await (isJson
    ? printJson(io, { ok, checks: results })
    : printText(io, results.map(formatCheck).join("")));
  return code === 0 && !ok ? 1 : code;
}

function formatCheck({ name, status, found, advice }: CheckResult): string {
  const head = `${status.padEnd(4)}  ${name.padEnd(13)}  ${toVisibleLine(found)}\n`;
  return advice === undefined ? head : `${head}${" ".repeat(21)}${advice}\n`;
}
