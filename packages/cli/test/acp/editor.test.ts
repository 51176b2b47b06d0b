/** What an editor sends and is asked over the Agent Client Protocol. */
import type { AgentContext, ContentBlock, McpServer } from "@agentclientprotocol/sdk/unstable";
import type { RunEvent } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { createPng, pdf } from "../../../../test/support/images.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { toMcpServers } from "../../src/acp/agent.ts";
import { createEditorApprover } from "../../src/acp/editor-approver.ts";
import { toPromptMessage } from "../../src/acp/editor-prompt.ts";
import { createAcpProjection } from "@sheaf/agent/output/acp-updates";
import { start } from "../../../agent/test/run/fake-ports.ts";

describe("a prompt", () => {
  test.each<[readonly ContentBlock[], string]>([
    [
      [
        { type: "text", text: "Hello" },
        { type: "text", text: "there" },
      ],
      "Hello\n\nthere",
    ],
    [[{ type: "resource_link", name: "a.ts", uri: "file:///w/a.ts" }], "[a.ts](file:///w/a.ts)"],
    [[{ type: "resource", resource: { uri: "file:///a.md", text: "x" } }], "file:///a.md\n```\nx\n```"],
    [[{ type: "resource", resource: { uri: "file:///a.md", text: "````\n" } }], "file:///a.md\n`````\n````\n\n`````"],
  ])("%j", (content, text) => {
    expect(toPromptMessage(content)).toEqual({ prompt: text });
  });

  test.each<[ContentBlock, RegExp]>([
    [{ type: "image", data: "", mimeType: "image/png" }, /image/],
    [{ type: "audio", data: "", mimeType: "audio/wav" }, /audio/],
    [{ type: "resource", resource: { uri: "file:///a.bin", blob: "AP8=" } }, /a\.bin/],
  ])("%j is refused", (block, message) => {
    expect(() => toPromptMessage([block])).toThrow(
      expect.objectContaining({ code: "USAGE", message: expect.stringMatching(message) as string }),
    );
  });
});

describe("an attachment", () => {
  const png = createPng(4, 3).toString("base64");

  test(verifies(["N65", "S-102"], "is an image or an embedded PDF, known by its bytes; its address is a name"), () => {
    const message = toPromptMessage([
      { type: "text", text: "Look" },
      { type: "image", data: png, mimeType: "image/jpeg" },
      { type: "image", data: png, mimeType: "image/png", uri: "https://example.org/shots/a.png" },
      { type: "resource", resource: { uri: "file:///w/b.pdf", blob: pdf.toString("base64") } },
    ]);
    expect(message).toMatchObject({
      prompt: "Look",
      attachments: [
        { name: "image 1", mediaType: "image/png", data: png },
        { name: "a.png", mediaType: "image/png" },
        { name: "b.pdf", mediaType: "application/pdf" },
      ],
    });
  });

  test(verifies("N126", "is a text if it is embedded, and never if it claims to be an image"), () => {
    const blob = Buffer.from("a,b\n").toString("base64");
    expect(toPromptMessage([{ type: "resource", resource: { uri: "file:///w/a.csv", blob } }])).toMatchObject({
      attachments: [{ name: "a.csv", mediaType: "text/plain", data: blob }],
    });
    expect(() => toPromptMessage([{ type: "image", data: blob, mimeType: "image/png" }])).toThrow("is not a PNG");
  });

  test(verifies("N66", "is named when a session is loaded"), () => {
    const event: RunEvent = {
      type: "run_start",
      ...start,
      ...toPromptMessage([{ type: "image", data: png, mimeType: "image/png" }]),
      seq: 1,
      time: 0,
    };
    const updates = createAcpProjection({ withPrompt: true }).push(event);
    expect(JSON.stringify(updates)).not.toContain(png);
    expect(updates.at(-1)).toMatchObject({ content: { text: "\n[image 1 (image/png, 4 x 3 px, 33 bytes)]" } });
  });
});

describe("MCP servers", () => {
  test("are started or reached as the editor says", () => {
    const servers: McpServer[] = [
      { name: "files", command: "/bin/files", args: ["-x"], env: [{ name: "A", value: "1" }] },
      { type: "http", name: "search", url: "https://example.org/", headers: [{ name: "X-Key", value: "k" }] },
    ];
    expect(toMcpServers(servers)).toEqual({
      files: { command: "/bin/files", args: ["-x"], env: { A: "1" } },
      search: { url: "https://example.org/", headers: { "X-Key": "k" } },
    });
  });

  test("over another transport are refused", () => {
    const server: McpServer = { type: "sse", name: "old", url: "https://example.org/", headers: [] };
    expect(() => toMcpServers([server])).toThrow(expect.objectContaining({ code: "USAGE" }));
  });
});

describe("a permission", () => {
  const request = {
    approvalId: "appr_1",
    callId: "call_1",
    title: "Run a command",
    description: "no rule allows it",
    subject: { type: "command", command: "rm -r build" },
    options: [{ id: "allow_once", label: "Allow", kind: "allow_once" }],
  } as unknown as Parameters<ReturnType<typeof createEditorApprover>["ask"]>[0];
  const ask = async (outcome: object) => {
    const sent: unknown[] = [];
    const client = {
      request: async (_method: unknown, params: unknown) => {
        sent.push(params);
        return { outcome };
      },
    } as unknown as AgentContext;
    const answer = createEditorApprover({ client: client, sessionId: "s-1", editor: {} }).ask(
      request,
      new AbortController().signal,
      undefined as never,
    );
    return { sent, answer };
  };

  test("shows the whole command, with the options of the call", async () => {
    const { sent, answer } = await ask({ outcome: "selected", optionId: "allow_once" });
    expect(await answer).toEqual({ optionId: "allow_once", by: "editor" });
    expect(sent).toMatchObject([
      {
        sessionId: "s-1",
        toolCall: { toolCallId: "call_1", rawInput: { command: "rm -r build" } },
        options: [{ optionId: "allow_once", name: "Allow", kind: "allow_once" }],
      },
    ]);
    expect(JSON.stringify(sent)).toContain("no rule allows it");
  });

  test(
    verifies("C101", "a server's question is a form where the editor has forms, else the values of its one field"),
    async () => {
      const field = {
        name: "size",
        title: "Size",
        type: "choice",
        required: true,
        options: [{ value: "s", label: "Small" }],
      };
      const asked = {
        ...request,
        title: "The MCP server shop asks",
        subject: { type: "server_question", server: "shop", fields: [field], arguments: { size: "s" } },
        options: [
          { id: "answer", label: "Answer", kind: "allow_once" },
          { id: "decline", label: "Decline", kind: "reject_once" },
        ],
      } as unknown as typeof request;
      const answerAs = async (editor: object, response: object) => {
        const sent: unknown[] = [];
        const client = {
          request: async (method: unknown, params: unknown) => {
            sent.push([method, params]);
            return response;
          },
        } as unknown as AgentContext;
        const approver = createEditorApprover({ client, sessionId: "s-1", editor });
        return { decision: await approver.ask(asked, new AbortController().signal, undefined as never), sent };
      };
      const forms = { elicitation: { form: {} } };
      const filled = await answerAs(forms, { action: "accept", content: { size: "s" } });
      expect(filled.decision).toEqual({ optionId: "answer", by: "editor", editedArguments: { size: "s" } });
      const property = { type: "string", title: "Size", default: "s", oneOf: [{ const: "s", title: "Small" }] };
      expect(filled.sent).toMatchObject([
        [
          "elicitation/create",
          { toolCallId: "call_1", requestedSchema: { properties: { size: property }, required: ["size"] } },
        ],
      ]);
      expect((await answerAs(forms, { action: "cancel" })).decision.optionId).toBe("decline");
      const chosen = await answerAs({}, { outcome: { outcome: "selected", optionId: "answer:0" } });
      expect(chosen.decision).toEqual({ optionId: "answer", by: "editor", editedArguments: { size: "s" } });
      expect(chosen.sent).toMatchObject([
        ["session/request_permission", { options: [{ optionId: "answer:0", name: "Small" }, { optionId: "decline" }] }],
      ]);
    },
  );

  test("without an answer is none", async () => {
    const { answer } = await ask({ outcome: "cancelled" });
    await expect(answer).rejects.toMatchObject({ code: "CANCELLED" });
  });
});
