/**
 * A handler of web requests that streams documents as server-sent events.
 * It works wherever `Request` and `Response` do: Hono, Next.js, Bun and Deno take such a function as it is.
 * Run it: node examples/library/web-handler.ts
 */
import { encodeSse } from "@sheaf/protocol/encode";
import { createAgent } from "sheaf";

const agent = createAgent({ workspace: ".", model: "offline", mode: "ask" });

async function handle(request: Request): Promise<Response> {
  const run = agent.run(await request.text(), { signal: request.signal });
  const body = new ReadableStream({
    async start(stream) {
      for await (const event of run) stream.enqueue(new TextEncoder().encode(encodeSse(event)));
      stream.close();
    },
  });
  return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
}

const response = await handle(new Request("http://localhost/", { method: "POST", body: "What can you do?" }));
console.log(await response.text());
