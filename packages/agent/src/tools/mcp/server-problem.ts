/** Describes faults of a server, and of the way to it. */
import { InsufficientScopeError, SdkHttpError } from "@modelcontextprotocol/client";
import { createSafeText } from "@sheaf/models/live/secrets";
import type { ToolServer } from "./tool-server.ts";

/** Describes an error in one line, without the keys that the server got (S-41). */
export function toProblem(error: unknown, { name, settings, secrets }: ToolServer): string {
  const message = describeFault(error);
  const advice = error instanceof InsufficientScopeError ? `: ${adviseOnScope(name, error)}` : "";
  const given = ("url" in settings ? settings.headers : settings.env) ?? {};
  const baseUrl = "url" in settings ? settings.url : "";
  const tokens = Object.fromEntries(secrets.map((secret, index) => [`token ${index}`, secret]));
  return createSafeText({ apiKey: undefined, baseUrl, headers: { ...given, ...tokens } })(`${message}${advice}`, 500);
}

/** Describes an error in words, even if Node or `fetch` has only a code. */
export function describeFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  if (message === "fetch failed" && cause instanceof Error) {
    // If a name has several addresses, the message is empty, and the code is the first one's.
    const { code = "" } = cause as NodeJS.ErrnoException;
    return `it cannot be reached: ${cause.message || code || "it gave no reason"}`;
  }
  if (error instanceof SdkHttpError && [404, 405].includes(error.status) && /^\s*</.test(String(error.data.text)))
    return `it has no MCP at this address (HTTP ${error.status}): check its URL, which must speak Streamable HTTP, not the older SSE`;
  const { code, syscall = "", path } = error as NodeJS.ErrnoException;
  if (syscall.startsWith("spawn")) {
    const advice = "check its path, and its cwd if it has one";
    return `the program ${path} ${code === "ENOENT" ? "was not found" : `cannot be started (${code})`}: ${advice}`;
  }
  return code === "EPIPE" ? "the program ended at once" : message;
}

/** Advises on a missing scope: a login has only the rights for which it asked. */
function adviseOnScope(name: string, { requiredScope = "" }: InsufficientScopeError): string {
  return `set "scope" in its "oauth" settings to what its login had and "${requiredScope}", and run sheaf mcp login ${name}`;
}
