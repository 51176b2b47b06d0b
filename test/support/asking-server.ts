/** A tool server that asks the person something during a call, over stdio. */
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

const server = new McpServer({ name: "hotel", version: "1.0.0" });
server.registerTool("book", { description: "Books a room" }, async (context) => {
  const { action, content } = await context.mcpReq.elicitInput({
    message: "Which room do you want?",
    requestedSchema: {
      type: "object",
      properties: {
        guest: { type: "string", title: "Guest", description: "Who stays there" },
        nights: { type: "integer", title: "Nights", minimum: 1, maximum: 14, default: 2 },
        breakfast: { type: "boolean", title: "Breakfast" },
        room: {
          type: "string",
          title: "Room",
          oneOf: [
            { const: "s", title: "Small" },
            { const: "l", title: "Large" },
          ],
        },
        extras: { type: "array", title: "Extras", items: { type: "string", enum: ["Bike", "Parking"] } },
      },
      required: ["guest", "room"],
    },
  });
  return { content: [{ type: "text", text: `${action} ${JSON.stringify(content ?? {})}` }] };
});
await server.connect(new StdioServerTransport());
