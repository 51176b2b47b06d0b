import type { Turn } from "@sheaf/client/chat";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { findWindowTokens, toUsageSum } from "../../src/conversation/conversation-usage.ts";

function toTurn(promptTokens: number, completionTokens: number, costUsd?: number): Turn {
  const usage = { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens };
  const metadata = { turnCount: 2, duration_ms: 500, ...(costUsd !== undefined && { costUsd }) };
  return { message: "", response: { usage, metadata } } as unknown as Turn;
}

describe("what a conversation used", () => {
  test("is what the server counts, undone answers too", () => {
    const listed = { promptTokens: 300, completionTokens: 30, totalTokens: 330, costUsd: 0.3 };
    expect(toUsageSum([toTurn(100, 10, 0.1)], listed)).toEqual({
      promptTokens: 300,
      completionTokens: 30,
      costUsd: 0.3,
      contextTokens: undefined,
      turnCount: 2,
      duration: 500,
    });
  });

  test.each([undefined, { promptTokens: 1, completionTokens: 1, totalTokens: 2 }])(
    "is what is shown, if the list has %j",
    (listed) => {
      const sum = toUsageSum([toTurn(100, 10, 0.25), toTurn(200, 20, 0.5)], listed);
      expect(sum).toEqual({
        promptTokens: 300,
        completionTokens: 30,
        costUsd: 0.75,
        contextTokens: undefined,
        turnCount: 4,
        duration: 1000,
      });
    },
  );

  test("has no cost without a price", () => {
    expect(toUsageSum([toTurn(1, 1)], undefined).costUsd).toBeUndefined();
  });

  test(verifies("N6", "has the size that the newest answer tells, and the window of the model that comes next"), () => {
    const told = toTurn(1, 1);
    Object.assign(told.response.metadata, { contextTokensUsed: 12_000 });
    expect(toUsageSum([told, toTurn(1, 1)], undefined).contextTokens).toBe(12_000);
    const models = [{ id: "a", contextTokens: 150_000 }, { id: "b" }];
    expect([undefined, "a", "b", "c"].map((model) => findWindowTokens(models, model))).toEqual([
      150_000,
      150_000,
      undefined,
      undefined,
    ]);
  });
});
