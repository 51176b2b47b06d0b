/** What a server, or the way to it, said went wrong. */
import type { McpServerSettings } from "../../config/mcp-settings.ts";
import { createSafeText } from "../../model/live/secrets.ts";

/** One line, whatever the server said, without the keys that it got (S-41). */
export function toProblem(error: unknown, settings: McpServerSettings): string {
  const message = error instanceof Error ? error.message : String(error);
  const secrets = "url" in settings ? settings.headers : settings.env;
  const baseUrl = "url" in settings ? settings.url : "";
  return createSafeText({ apiKey: undefined, baseUrl, headers: secrets ?? {} })(message, 500);
}
