import { SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { describeFault } from "../../../src/tools/mcp/server-problem.ts";

test("a web page in place of MCP, as a server with only the old SSE answers, is not repeated", () => {
  const text = "<!DOCTYPE html><pre>Cannot POST /sse</pre>";
  const error = (status: number, body: string) =>
    new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `Error POSTing to endpoint: ${body}`, {
      status,
      text: body,
    });
  expect(describeFault(error(404, text))).toBe(
    "it has no MCP at this address (HTTP 404): check its URL, which must speak Streamable HTTP, not the older SSE",
  );
  expect(describeFault(error(404, "no such session"))).toBe("Error POSTing to endpoint: no such session");
});
