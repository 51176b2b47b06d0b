/**
 * A server of the Model Context Protocol by hand, which knows how long it lives: `count` says its process and how often
 * it was called, `end` ends it without an answer. It prints lines that are no messages, as programs do. Each start adds
 * its process to the file that it is given.
 */
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , starts] = process.argv;
if (starts !== undefined) appendFileSync(starts, `${process.pid}\n`);

let calls = 0;

const tool = (name: string) => ({ name, inputSchema: { type: "object" } });

function answer(method: string, name: string | undefined): unknown {
  if (method === "initialize") {
    const serverInfo = { name: "counting", version: "1" };
    return { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo };
  }
  if (method === "tools/list") return { tools: [tool("count"), tool("end")] };
  if (name === "end") process.exit(1);
  calls += 1;
  return { content: [{ type: "text", text: `process ${process.pid}, call ${calls}` }] };
}

process.stdout.write('ready to serve\n{"not":"a message"}\n[1,\n\n');
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line) as { id?: number; method: string; params?: { name?: string } };
  if (id === undefined) return;
  process.stdout.write("working…\n");
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: answer(method, params?.name) })}\n`);
});
