/** Plays the tool servers of a session with their recorded results, without starting a program. */
import { InMemoryTransport, Server } from "@modelcontextprotocol/server";
import { toMcpToolName } from "@sheaf/agent/tools/mcp/tool-name";
import type { ServerPorts } from "@sheaf/agent/tools/mcp/server-connection";
import { sheafVersion } from "@sheaf/base/version";
import type { TestCall } from "@sheaf/agent/output/session-tests/test-response";
import type { TestFile } from "./test-file.ts";

/** Plays each tool's results in their order. */
export function playServers({
  servers = {},
  responses,
}: Pick<TestFile, "servers" | "responses">): ServerPorts["openTransport"] {
  const turns = responses.flatMap((response) => response.turns);
  const waiting = turns.flatMap(({ calls = [] }) => calls.flatMap((call) => [call, ...listInner(call)]));
  const take = (server: string, tool: string): string => {
    const name = toMcpToolName(server, tool, new Set());
    const at = waiting.findIndex((call) => call.tool === name && call.status !== "rejected");
    return at === -1 ? `the test has no further result of ${tool}` : (waiting.splice(at, 1)[0]?.returns ?? "");
  };
  return (name) => {
    const tools = servers[name];
    if (!tools) return undefined;
    const [near, far] = InMemoryTransport.createLinkedPair();
    const server = new Server({ name, version: sheafVersion }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", () => ({
      tools: tools.map((tool) => ({ name: tool, inputSchema: { type: "object" } })),
    }));
    server.setRequestHandler("tools/call", ({ params: { name: tool } }) => {
      const text = take(name, tool);
      return { content: [{ type: "text", text: text.replace(failure, "") }], isError: failure.test(text) };
    });
    void server.connect(far);
    return near;
  };
}

/** Matches the line that Sheaf writes before the text of a failure. */
const failure = /^TOOL_FAILED: .*\n/;

const listInner = ({ turns = [] }: TestCall) => turns.flatMap(({ calls = [] }) => calls);
