/** A server on a machine where no sandbox works. */
import type { ChatResponse } from "@sheaf/protocol";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { openApp } from "../../../test/support/open-app.ts";

test(
  verifies(["S-31", "N2", "N63"], "a response whose commands were refused is an error that keeps its answer"),
  async () => {
    const call = { tool: "run_terminal_cmd", arguments: { command: "touch made" } };
    const script = {
      turns: [{ events: [{ call }] }, { events: [{ text: "Not done." }] }, { events: [{ text: "Hi." }] }],
    };
    const server = await openApp({ script });
    // Sheaf knows no sandbox for this system.
    const { platform } = process;
    Object.defineProperty(process, "platform", { value: "freebsd" });
    onTestFinished(() => void Object.defineProperty(process, "platform", { value: platform }));
    const told = {
      notices: [{ code: "SANDBOX_UNAVAILABLE", message: expect.stringMatching(/no sandbox works here/) as string }],
    };
    const answer = await server.chat({ message: "go" });
    const response = (await answer.json()) as ChatResponse;
    expect([answer.status, response.status]).toEqual([200, "error"]);
    expect(response.metadata).toMatchObject({ finishReason: "error", ...told });
    expect(response.documents.map(({ type }) => type)).toEqual(["terminal_command", "error", "text", "error"]);
    expect(response.documents.at(-1)).toMatchObject({
      metadata: { errorCode: "SANDBOX_UNAVAILABLE", source: "sandbox" },
    });
    const next = await server.chat({ message: "hello", conversationId: response.conversationId });
    expect(await next.json()).toMatchObject({ status: "completed", metadata: told });
  },
);
