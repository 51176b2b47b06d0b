/**
 * Runs Sheaf from a program and reads its lines as they come.
 * Run it: node examples/read-the-stream.ts "Summarise README.md"
 */
import { spawn } from "node:child_process";
import type { CliLine } from "@sheaf/protocol";
import { createNdjsonDecoder } from "@sheaf/protocol/ndjson";

const prompt = process.argv[2] ?? "Summarise README.md";
const sheaf = spawn("npx", ["sheaf", "-p", "--model", "offline", prompt], { stdio: ["ignore", "pipe", "inherit"] });

const decoder = createNdjsonDecoder();
sheaf.stdout.setEncoding("utf8");
sheaf.stdout.on("data", (chunk: string) => {
  for (const line of decoder.push(chunk)) {
    if (!line.ok) throw new Error(`no JSON: ${line.line}`);
    const event = line.value as CliLine;
    if (event.type === "assistant") process.stdout.write(event.message.content[0].text);
    if (event.type === "tool_call" && event.subtype === "started") {
      process.stdout.write(`\n[${Object.keys(event.tool_call).join()}]\n`);
    }
  }
});
sheaf.on("close", (code) => {
  // The exit code alone tells how it ended.
  process.stdout.write(`\nexit code ${code}\n`);
  process.exitCode = code ?? 1;
});
