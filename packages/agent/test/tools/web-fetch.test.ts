import { expect, test } from "vitest";
import type { PageResult } from "../../src/network/fetch-page.ts";
import { webFetchTool } from "../../src/tools/web-fetch.ts";
import { createFileToolContext } from "./file-tool-context.ts";

function fetchWith(result: PageResult) {
  const { context } = createFileToolContext();
  return webFetchTool.run({ url: "https://example.org/a" }, { ...context, web: { fetchPage: async () => result } });
}

const page = { url: "https://example.org/a", text: "# Page", bytes: 100, isCut: false };

test("a page is the output; where it came from, and what was cut, is told", async () => {
  expect(await fetchWith({ ok: true, page })).toEqual({
    status: "success",
    output: "# Page",
    effect: { kind: "web", url: "https://example.org/a" },
  });
  const long = await fetchWith({
    ok: true,
    page: { ...page, url: "https://example.org/b", text: "ü".repeat(100_000) },
  });
  expect(long).toMatchObject({
    status: "success",
    truncated: true,
    note: "The page is from https://example.org/b.",
    whole: "ü".repeat(100_000),
    effect: { url: "https://example.org/b" },
  });
  expect(Buffer.byteLength(long.output)).toBe(100 * 1024);
  expect(await fetchWith({ ok: true, page: { ...page, text: " \n" } })).toMatchObject({
    note: expect.stringContaining("no text") as string,
  });
});

test("a failure is one, and a cancelled run is no failure of the page", async () => {
  const error = { code: "HTTP_ERROR", message: "status 404", details: "" };
  expect(await fetchWith({ ok: false, error })).toEqual({ status: "error", output: "", error });
  const cancelled = { code: "CANCELLED", message: "", details: "" };
  expect(await fetchWith({ ok: false, error: cancelled })).toMatchObject({ status: "cancelled" });
  const { context } = createFileToolContext();
  expect(await webFetchTool.run({ url: "https://example.org/" }, context)).toMatchObject({ status: "error" });
});
