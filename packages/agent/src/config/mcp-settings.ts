/** Servers of the Model Context Protocol in a configuration: the form that other programs use for theirs. */
import { readFileSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import * as z from "zod/mini";
import type { McpServers } from "./mcp-server-settings.ts";
import { SheafError } from "../base/errors.ts";
import { isHeaderName, isHeaderValue } from "./key-text.ts";

/** Largest `.mcp.json` that is read. Bytes. */
const MAX_BYTES = 1024 * 1024;

/** What the name of a server must be, in words. */
export const serverNameRule = "a name of letters, digits, points and dashes, at most 32";

/** Whether a server may have this name. */
export function isServerName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9.-]{0,31}$/.test(name);
}

/** `{"NAME": {"command", "args", "env", "cwd"} | {"url", "headers"}}`. */
export function createMcpSchema(): z.ZodMiniType<McpServers> {
  const name = z.string().check(z.refine(isServerName, `expected ${serverNameRule}`));
  const timeoutSeconds = z.optional(z.number().check(z.gt(0), z.lte(86_400)));
  const text = z.string().check(z.minLength(1));
  const program = z.strictObject({
    type: z.optional(z.literal("stdio")),
    command: text,
    args: z.optional(z.array(z.string())),
    env: z.optional(
      z.record(z.string().check(z.regex(/^[A-Za-z_]\w*$/, "expected the name of a variable")), z.string()),
    ),
    cwd: z.optional(text.check(z.refine(isAbsolute, "expected an absolute path"))),
    timeoutSeconds,
  });
  const server = z.strictObject({
    type: z.optional(z.literal("http")),
    url: z.url({ protocol: /^https?$/ }),
    headers: z.optional(
      z.record(
        z.string().check(z.refine(isHeaderName, "expected the name of a header")),
        z.string().check(z.refine(isHeaderValue, "expected one line of printable characters")),
      ),
    ),
    timeoutSeconds,
  });
  return z.record(name, z.union([program, server]));
}

/**
 * The servers that a trusted workspace names in its `.mcp.json`. Of any other workspace nothing is read (S-01); the
 * user's own servers win over those of the same name (S-06).
 * @throws SheafError CONFIG_INVALID for a file that cannot be read as one.
 */
export function readWorkspaceServers(workspace: string, trusted: boolean): McpServers {
  if (!trusted) return {};
  const file = join(workspace, ".mcp.json");
  let text: string;
  try {
    const stat = statSync(file);
    // A pipe would be waited for.
    if (!stat.isFile()) throw createFault(file, "is no file", undefined);
    const bytes = readFileSync(file);
    if (bytes.length > MAX_BYTES) throw new SheafError("CONFIG_INVALID", `${file} is larger than ${MAX_BYTES} bytes`);
    text = bytes.toString("utf8");
  } catch (error) {
    if (error instanceof SheafError) throw error;
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return {};
    throw createFault(file, `cannot be read (${code})`, error);
  }
  try {
    const schema = z.object({ mcpServers: z.optional(createMcpSchema()) });
    return schema.parse(JSON.parse(text)).mcpServers ?? {};
  } catch (error) {
    throw createFault(file, 'is no list of servers ({"mcpServers": {…}})', error);
  }
}

function createFault(file: string, problem: string, cause: unknown): SheafError {
  const advice = "mend it, or take the trust back with sheaf trust --remove";
  return new SheafError("CONFIG_INVALID", `${file} ${problem}: ${advice}`, { cause });
}
