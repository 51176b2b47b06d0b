/**
 * Typed documents out of any model's stream, without the agent.
 * Here the stream is a few chunks of OpenAI's chat protocol; `response.body` of a fetch works the same.
 * Run it: node examples/documents-from-a-stream.ts
 */
import { createAssembler } from "@sheaf/documents";
import { createModelStreamDecoder, toRunEvents } from "@sheaf/documents/model-streams";
import { createReducer, type ModelEvent } from "@sheaf/protocol";
import { encodeSse } from "@sheaf/protocol/encode";

const chunks = [
  'data: {"choices":[{"delta":{"content":"Try this:\\n\\n```py"}}]}\n\n',
  'data: {"choices":[{"delta":{"content":"thon\\nprint(1)\\n```\\n"}}]}\n\ndata: {"choices":[{"fin',
  'ish_reason":"stop","delta":{}}]}\n\ndata: [DONE]\n\n',
];

const decoder = createModelStreamDecoder("openai-chat");
function* readModelEvents(): Generator<ModelEvent> {
  for (const chunk of chunks) yield* decoder.push(chunk);
  yield* decoder.end();
}

const assembler = createAssembler();
const reducer = createReducer();
const options = { now: Date.now, newId: () => crypto.randomUUID(), report: decoder.report };
for await (const event of toRunEvents(readModelEvents(), options)) {
  for (const streamEvent of assembler.push(event)) {
    process.stdout.write(encodeSse(streamEvent)); // what a server would send
    reducer.push(streamEvent); // what a client does with it
  }
}
for (const { sequence, type, content } of reducer.response.documents) {
  process.stdout.write(`${sequence} ${type}: ${JSON.stringify(content)}\n`);
}
