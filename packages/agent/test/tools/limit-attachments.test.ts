import type { RunEvent } from "@sheaf/protocol";
import { expect, test } from "vitest";
import { attach, createPng } from "../../../../test/support/images.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { limitAttachments } from "../../src/tools/limit-attachments.ts";
import { applyToState, createToolState } from "../../src/tools/tool-state.ts";

test(verifies("N65", "tools attach at most 100 MiB in a conversation, also after a resume"), () => {
  const attachments = [attach(createPng(1, 1, 3_900_000), "a.png")];
  const outcome = { status: "success", output: "a.png", attachments } as const;
  const state = createToolState();
  const resumed = createToolState();
  for (let count = 0; count < 26; count += 1) {
    expect(limitAttachments(outcome, state)).toBe(outcome);
    const event: RunEvent = { type: "tool_result", callId: "c", ...outcome, durationMs: 0, seq: 1, time: 0 };
    applyToState(resumed, event);
  }
  for (const full of [state, resumed]) {
    const limited = limitAttachments(outcome, full);
    expect(limited.attachments).toBeUndefined();
    expect(limited.note).toContain("at most 104857600 bytes in a conversation");
  }
  const text = { status: "success", output: "text" } as const;
  expect(limitAttachments(text, state)).toBe(text);
});
