/** A tool server of MCP's newer protocol, its older one or both over stdio; it counts its starts. */
import { appendFileSync } from "node:fs";
import { acceptedContent, inputRequired, McpServer, type McpServerFactory } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/** Its tool `ask` asks the person for a name, and says which protocol it used. */
export const createVersionsServer: McpServerFactory = ({ era }) => {
  const server = new McpServer({ name: "versions", version: "1.0.0" });
  const properties = { name: { type: "string" as const } };
  const question = { message: "Who?", requestedSchema: { type: "object" as const, properties, required: ["name"] } };
  server.registerTool("ask", {}, async ({ mcpReq }) => {
    if (era === "legacy") {
      const { content } = await mcpReq.elicitInput(question);
      return { content: [{ type: "text", text: `${era}: ${String(content?.["name"])}` }] };
    }
    const given = acceptedContent<{ name: string }>(mcpReq.inputResponses, "who");
    if (!given) return inputRequired({ inputRequests: { who: inputRequired.elicit(question) } });
    return { content: [{ type: "text", text: `${era}: ${given.name}` }] };
  });
  return server;
};

/** `fragile`: as `old`, and it ends at a question before `initialize`. */
const [version, starts] = process.argv.slice(2);
if (starts !== undefined) {
  appendFileSync(starts, "x");
  if (version === "new" || version === "both") {
    serveStdio(createVersionsServer, { legacy: version === "new" ? "reject" : "serve" });
  } else {
    if (version === "fragile") {
      process.stdin.once("data", (bytes: Buffer) => {
        if (!bytes.toString().includes('"initialize"')) process.exit(1);
      });
    }
    const server = await createVersionsServer({ era: "legacy" });
    await server.connect(new StdioServerTransport());
  }
}
