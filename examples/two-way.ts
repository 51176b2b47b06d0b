/**
 * Holds a conversation with Sheaf through stdin and stdout, and decides what it may change.
 * Run it: node examples/two-way.ts "Summarise README.md" "Read README.md and write a summary to summary.txt"
 */
import { spawn } from "node:child_process";
import type { CliLine } from "@sheaf/protocol";
import { createNdjsonDecoder } from "@sheaf/protocol/ndjson";

const messages = process.argv.slice(2);
const flags = ["--input-format", "stream-json", "--output-format", "stream-json", "--ask", "Write(**)"];
const sheaf = spawn("npx", ["sheaf", "-p", "--model", "offline", ...flags], { stdio: ["pipe", "pipe", "inherit"] });

const write = (line: object): void => void sheaf.stdin.write(`${JSON.stringify(line)}\n`);

/** The next message; without one, the end of stdin ends the process. */
function say(): void {
  const content = messages.shift();
  if (content === undefined) sheaf.stdin.end();
  else write({ type: "user", message: { role: "user", content } });
}

function take(line: CliLine): void {
  if (line.type === "assistant") process.stdout.write(line.message.content[0].text);
  if (line.type === "control_request") {
    // A person, or a policy, decides here.
    const { tool_name: name, input } = line.request;
    process.stdout.write(`\n[refused: ${name} ${String(input["target_file"])}]\n`);
    const response = { behavior: "deny", message: "this program only reads" };
    write({ type: "control_response", response: { subtype: "success", request_id: line.request_id, response } });
  }
  if (line.type === "result") {
    process.stdout.write(`\n[${line.subtype}]\n`);
    say();
  }
}

const decoder = createNdjsonDecoder();
sheaf.stdout.setEncoding("utf8");
sheaf.stdout.on("data", (chunk: string) => {
  for (const record of decoder.push(chunk)) {
    if (!record.ok) throw new Error(`no JSON: ${record.line}`);
    take(record.value as CliLine);
  }
});
sheaf.on("close", (code) => {
  process.exitCode = code ?? 1;
});
say();
