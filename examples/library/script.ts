/**
 * Answers one prompt, and prints what happens while it happens.
 * Run it: node examples/library/script.ts "Summarise README.md"
 */
import { createAgent } from "sheaf";

const [prompt = "Summarise README.md"] = process.argv.slice(2);
await using agent = createAgent({ workspace: ".", model: "offline" });
const run = agent.run(prompt);

for await (const { event, data } of run) {
  if (event === "document_start") console.log(`[${data.sequence} ${data.type}]`);
  if (event === "content_delta") process.stdout.write(data.delta);
  if (event === "document_end") console.log();
}

const { status, documents, usage } = await run.result;
console.log(`${status}: ${documents.length} documents, ${usage.totalTokens} tokens`);
