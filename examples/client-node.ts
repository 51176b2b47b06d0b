/**
 * Talks to a server with the client library: shows the answer as it comes, and answers what it asks.
 * Start a server with `sheaf serve --model offline`, which tells its address and where its token is.
 * Run it: SHEAF_URL=http://127.0.0.1:7433 SHEAF_TOKEN=… node examples/client-node.ts "Summarise README.md"
 */
import { createInterface } from "node:readline/promises";
import { createClient } from "@sheaf/client";

const { SHEAF_URL: baseUrl = "http://127.0.0.1:7433", SHEAF_TOKEN: token = "" } = process.env;
const client = createClient({ baseUrl, token });
const stream = client.chat({ message: process.argv[2] ?? "Summarise README.md", approvals: "ask" });

for await (const { event, response } of stream) {
  if (event.event === "document_start") process.stdout.write(`\n[${event.data.sequence} ${event.data.type}]\n`);
  if (event.event === "content_delta" || event.event === "output_delta") process.stdout.write(event.data.delta);
  if (event.event === "approval_request") {
    const { approvalId, title, options } = event.data;
    process.stdout.write(`\n${title}\n${options.map(({ id, label }) => `  ${id}: ${label}`).join("\n")}\n`);
    const lines = createInterface({ input: process.stdin, output: process.stdout });
    const optionId = await lines.question("> ");
    lines.close();
    await client.resolveApproval(response.id, approvalId, { optionId });
  }
}

const { status, documents, usage } = stream.response;
process.stdout.write(`\n${status}: ${documents.length} documents, ${usage.totalTokens} tokens\n`);
process.exitCode = status === "completed" ? 0 : 1;
