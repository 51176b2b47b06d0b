/** What a server, or the way to it, said went wrong. */
import { InsufficientScopeError } from "@modelcontextprotocol/client";
import { createSafeText } from "../../model/live/secrets.ts";
import type { ToolServer } from "./tool-server.ts";

/** One line, whatever the server said, without the keys that it got (S-41). */
export function toProblem(error: unknown, { name, settings, secrets }: ToolServer): string {
  const message = error instanceof Error ? error.message : String(error);
  const advice = error instanceof InsufficientScopeError ? `: ${adviseOnScope(name, error)}` : "";
  const given = ("url" in settings ? settings.headers : settings.env) ?? {};
  const baseUrl = "url" in settings ? settings.url : "";
  const tokens = Object.fromEntries(secrets.map((secret, index) => [`token ${index}`, secret]));
  return createSafeText({ apiKey: undefined, baseUrl, headers: { ...given, ...tokens } })(`${message}${advice}`, 500);
}

/** A login has the rights that were asked for when it was made. */
function adviseOnScope(name: string, { requiredScope = "" }: InsufficientScopeError): string {
  return `set "scope" in its "oauth" settings (it asks for "${requiredScope}") and run sheaf mcp login ${name}`;
}
