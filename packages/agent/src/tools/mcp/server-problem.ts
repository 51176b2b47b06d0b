/** What a server, or the way to it, said went wrong. */
import { createSafeText } from "../../model/live/secrets.ts";
import type { ToolServer } from "./tool-server.ts";

/** One line, whatever the server said, without the keys that it got (S-41). */
export function toProblem(error: unknown, { settings, secrets }: ToolServer): string {
  const message = error instanceof Error ? error.message : String(error);
  const given = ("url" in settings ? settings.headers : settings.env) ?? {};
  const baseUrl = "url" in settings ? settings.url : "";
  const tokens = Object.fromEntries(secrets.map((secret, index) => [`token ${index}`, secret]));
  return createSafeText({ apiKey: undefined, baseUrl, headers: { ...given, ...tokens } })(message, 500);
}
