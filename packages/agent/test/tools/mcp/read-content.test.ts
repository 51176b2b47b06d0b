import type { ToolResult } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { createPng, pdf } from "../../../../../test/support/images.ts";
import { verifies } from "../../../../../test/support/verifies.ts";
import { toCliOutcome } from "../../../src/output/cli-outcome.ts";
import { toMcpOutcome } from "../../../src/tools/mcp/tool-outcome.ts";

const png = createPng(4, 3).toString("base64");

describe("the content of a tool of a server", () => {
  test(verifies(["N68", "C52"], "images and PDF are attached, in the place that a line of text names"), () => {
    const outcome = toMcpOutcome("browser", "shoot", {
      content: [
        { type: "text", text: "Here:" },
        { type: "image", mimeType: "image/jpeg", data: png },
        {
          type: "resource",
          resource: { uri: "file:///spec", mimeType: "application/pdf", blob: pdf.toString("base64") },
        },
      ],
    });
    expect(outcome).toMatchObject({
      status: "success",
      output: `Here:\n[shoot 1 (image/png, 4 x 3 px, 33 bytes)]\n[shoot 2 (application/pdf, ${pdf.length} bytes)]`,
      attachments: [{ mediaType: "image/png", data: png }, { mediaType: "application/pdf" }],
    });
    expect(JSON.stringify(outcome.effect)).not.toContain(png);
    const result = { ...outcome, type: "tool_result", callId: "call_1", durationMs: 1 } as ToolResult;
    expect(toCliOutcome("mcp__browser__shoot", result)).toEqual({
      success: {
        content: [
          { text: { text: "Here:" } },
          { image: { data: png, mimeType: "image/png" } },
          { text: { text: `[shoot 2 (application/pdf, ${pdf.length} bytes)]` } },
        ],
        isError: false,
      },
    });
    const { attachments: _, ...limited } = result;
    expect(toCliOutcome("mcp__browser__shoot", limited)).toMatchObject({
      success: { content: [{}, { text: { text: "[shoot 1 (image/png, 4 x 3 px, 33 bytes)]" } }, {}] },
    });
  });

  test(verifies(["C52", "R-14"], "a long result is one text without its middle, and keeps its images"), () => {
    const text = "x".repeat(60_000);
    const { effect } = toMcpOutcome("browser", "shoot", {
      content: [
        { type: "text", text },
        { type: "image", mimeType: "image/png", data: png },
        { type: "text", text },
      ],
    });
    expect(effect).toMatchObject({ content: [{ type: "text" }, { type: "image" }] });
  });

  test(verifies(["S-102", "N67"], "what is no image is named with the reason; addresses are never fetched"), () => {
    const outcome = toMcpOutcome("browser", "shoot", {
      content: [
        { type: "image", mimeType: "image/png", data: Buffer.from("<svg/>").toString("base64") },
        { type: "resource", resource: { uri: "file:///a.bin", blob: "AAAA" } },
        { type: "resource_link", name: "shot", uri: "http://169.254.169.254/a.png" },
        { type: "audio", mimeType: "audio/wav", data: "AAAA" },
      ],
    });
    expect(outcome.attachments).toBeUndefined();
    expect(outcome.output.split("\n")).toEqual([
      "[image image/png, 6 bytes, not shown: it is not a PNG, JPEG, GIF or WebP image and not a PDF: convert it, for instance to PNG]",
      "[resource file:///a.bin, 3 bytes, not shown]",
      "[link shot: http://169.254.169.254/a.png]",
      "[audio audio/wav, 3 bytes, not shown]",
    ]);
  });

  test(verifies("N65", "a result has no more attachments than a message"), () => {
    const content = Array.from({ length: 25 }, () => ({ type: "image" as const, mimeType: "image/png", data: png }));
    const { attachments, output } = toMcpOutcome("browser", "shoot", { content });
    expect(attachments).toHaveLength(20);
    expect(output).toContain("not shown: the message has 21 attachments, at most 20 are allowed");
  });
});
