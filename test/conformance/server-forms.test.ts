/** `stream-json` over HTTP is what the command line prints of the same response (X17). */
import { createSseDecoder, type ChatResponse } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { startServer, type TestServer } from "../support/server.ts";
import { createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const start = (script: unknown): Promise<TestServer> => {
  const cwd = folders.newFolder({ "README.md": "# A project\n" });
  return startServer({ home: `${cwd}-home`, cwd, script });
};

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

test(verifies("X17", "stream-json of the command line is the same over HTTP"), async () => {
  const server = await start(script);
  const response = (await (await server.chat({ message: "go" })).json()) as ChatResponse;
  const path = `/v1/responses/${response.id}/events?format=stream-json`;
  const decoder = createSseDecoder();
  const messages = [...decoder.push(await (await server.fetch(path)).text()), ...decoder.end()];
  const lines = parseStream(messages.map(({ data }) => `${data}\n`).join(""));
  const shown = await runSheaf(["show", response.conversationId.slice(5)], { cwd: server.cwd, home: server.home });
  expect(lines).toEqual(parseStream(shown.stdout));
});
