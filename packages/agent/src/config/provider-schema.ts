/** Schemas of the providers that the user's configuration adds. */
import * as z from "zod/mini";
import type { WireProtocol } from "../model/endpoint.ts";
import { parseBaseUrl } from "./base-url.ts";
import type { EndpointSettings, PackageProviderSettings } from "./config-file.ts";
import { isHeaderName, isHeaderValue } from "./key-text.ts";
import { providerPresets } from "./provider-presets.ts";

const protocols = [
  "openai-responses",
  "openai-chat",
  "anthropic-messages",
  "gemini",
] as const satisfies readonly WireProtocol[];

/** `endpoints`: servers by name. */
export function createEndpointsSchema(): z.ZodMiniType<Readonly<Record<string, EndpointSettings>>> {
  const headers = z.record(
    z.string().check(z.refine(isHeaderName, "expected the name of a header")),
    z.string().check(z.refine(isHeaderValue, "expected one line of printable characters")),
  );
  const endpoint = z.strictObject({
    protocol: z.enum(protocols),
    baseUrl: z.pipe(z.string(), z.transform(toCheckedUrl)),
    headers: z.optional(headers),
    ...createCommonFields(),
  });
  return z.record(createNameSchema(), endpoint);
}

/** `providers`: packages by name. */
export function createPackagesSchema(): z.ZodMiniType<Readonly<Record<string, PackageProviderSettings>>> {
  const settings = z.strictObject({
    package: z.string().check(z.refine(isPackage, "expected the name of an npm package, or a path with ./ or /")),
    create: z.optional(z.string().check(z.regex(/^[A-Za-z_$][\w$]*$/, "expected the name of an export"))),
    options: z.optional(
      z.record(z.string(), z.unknown()).check(z.refine((options) => !Object.hasOwn(options, "apiKey"), keyAdvice)),
    ),
    ...createCommonFields(),
  });
  return z.record(createNameSchema(), settings);
}

const keyAdvice = 'expected no key in "options": name its variable in "apiKeyEnv", or use sheaf login';

function createNameSchema(): z.ZodMiniType<string, string> {
  return z.string().check(
    z.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "expected a name of letters, digits, points and dashes"),
    z.refine((value) => !isBuiltIn(value), "this name is built in: choose another one"),
  );
}

function createCommonFields() {
  const id = z.string().check(z.minLength(1), z.maxLength(200));
  return {
    apiKeyEnv: z.optional(z.string().check(z.regex(/^[A-Za-z_]\w*$/, "expected the name of a variable, not a key"))),
    models: z.optional(z.array(id)),
  };
}

function isBuiltIn(name: string): boolean {
  return name === "offline" || name === "scripted" || providerPresets.has(name);
}

/** `name`, `@scope/name`, each with a part of the package behind it (`name/part`), or a path. */
function isPackage(text: string): boolean {
  return /^(@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*(\/[a-z0-9][\w.-]*)*$/i.test(text) || /^\.{0,2}\/./.test(text);
}

function toCheckedUrl(text: string, context: z.core.ParsePayload): string {
  const url = parseBaseUrl(text);
  if (url.ok) return url.value;
  context.issues.push({ code: "custom", message: url.expected, input: text });
  return z.NEVER;
}
