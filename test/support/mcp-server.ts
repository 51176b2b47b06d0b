/** A server of the Model Context Protocol, made with the official SDK: over stdio, or with `--http` over HTTP. */
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

function createTestServer(): McpServer {
  const { INSTRUCTIONS: instructions } = process.env;
  const server = new McpServer(
    { name: "test-server", version: "1.0.0" },
    instructions === undefined ? {} : { instructions },
  );
  server.registerTool(
    "add",
    { description: "Adds two numbers", inputSchema: z.object({ a: z.number(), b: z.number() }) },
    async ({ a, b }) => ({ content: [{ type: "text", text: `${a + b}` }] }),
  );
  server.registerTool("fail", { description: "Always fails" }, async () => ({
    content: [{ type: "text", text: "no such thing" }],
    isError: true,
  }));
  server.registerTool("large", { description: "Says much" }, async () => ({
    content: [{ type: "text", text: "x".repeat(1_000_000) }],
  }));
  server.registerTool("slow", { description: "Takes a minute" }, async () => {
    await new Promise((resolve) => {
      setTimeout(resolve, 60_000);
    });
    return { content: [] };
  });
  server.registerTool("environment", { description: "Names of its variables" }, async () => ({
    content: [{ type: "text", text: Object.keys(process.env).toSorted().join(" ") }],
  }));
  return server;
}

if (process.argv.includes("--http")) {
  const listener = createServer((request, response) => {
    void (async () => {
      const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: undefined });
      await createTestServer().connect(transport);
      const body = request.method === "POST" ? (Readable.toWeb(request) as ReadableStream<Uint8Array>) : null;
      const answer = await transport.handleRequest(
        new Request(`http://127.0.0.1${request.url ?? "/"}`, {
          method: request.method ?? "GET",
          headers: Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]),
          body,
          ...(body && { duplex: "half" }),
        }),
      );
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      if (answer.body) Readable.fromWeb(answer.body as never).pipe(response);
      else response.end();
    })();
  });
  listener.listen(0, "127.0.0.1", () => {
    const address = listener.address();
    process.stdout.write(`${typeof address === "object" && address ? address.port : 0}\n`);
  });
} else {
  await createTestServer().connect(new StdioServerTransport());
}
