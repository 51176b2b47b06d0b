/** `stream-json` over HTTP is what the command line prints of the same response (X17). */
import { createSseDecoder } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { startServer } from "../support/server.ts";
import { parseStream, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const script = {
  turns: [
    {
      events: [
        { reasoning: "I must look." },
        { text: "I read two files. ", chunk: 4 },
        {
          calls: [
            { tool: "read_file", arguments: { target_file: "README.md" }, chunk: 5 },
            { tool: "read_file", arguments: { target_file: "missing.md" } },
          ],
        },
      ],
    },
    { events: [{ text: "Done.\n\n```js\nlet a;\n```\n", chunk: 3 }] },
  ],
  after: "loop",
};

test(verifies("X17", "stream-json of the command line is the same over HTTP, live and stored"), async () => {
  const server = await startServer({ script });
  const live = await server.send("POST", "/v1/chat?format=stream-json", { message: "go", stream: true });
  const path = `${live.headers.get("location")}/events?format=stream-json`;
  const texts = [await live.text(), await (await server.fetch(path)).text()];
  const session = live.headers.get("x-conversation-id")!.slice(5);
  const shown = await runSheaf(["show", session], { cwd: server.cwd, home: server.home });
  for (const text of texts) {
    const decoder = createSseDecoder();
    const messages = [...decoder.push(text), ...decoder.end()];
    expect(parseStream(messages.map(({ data }) => `${data}\n`).join(""))).toEqual(parseStream(shown.stdout));
  }
});
