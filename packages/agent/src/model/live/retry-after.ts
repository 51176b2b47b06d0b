/** How long a provider asks us to wait. */
import type { HeaderReader } from "./http-client.ts";

/** Milliseconds until the next try as headers and body say it; undefined where they say nothing. Never negative. */
export function toRetryAfterMs(headers: HeaderReader, body: unknown, now: number): number | undefined {
  const wait =
    toNumber(headers.get("retry-after-ms")) ??
    toHeaderMs(headers.get("retry-after"), now) ??
    toResetMs(headers.get("anthropic-ratelimit-unified-reset"), now) ??
    toBodyMs(body, now);
  return wait === undefined ? undefined : Math.max(0, Math.ceil(wait));
}

/** Seconds, or an HTTP date. */
function toHeaderMs(value: string | null, now: number): number | undefined {
  const seconds = toNumber(value);
  if (seconds !== undefined) return seconds * 1000;
  const date = Date.parse(value ?? "");
  return Number.isNaN(date) ? undefined : date - now;
}

/** Seconds since 1970, or a date. */
function toResetMs(value: string | null, now: number): number | undefined {
  const seconds = toNumber(value);
  return seconds === undefined ? toHeaderMs(value, now) : seconds * 1000 - now;
}

/** Google's `RetryInfo` (`retryDelay: "34s"`); `resets_at` and `resets_in_seconds` of others. */
function toBodyMs(body: unknown, now: number): number | undefined {
  if (!isObject(body)) return undefined;
  const error = isObject(body["error"]) ? body["error"] : body;
  const details = Array.isArray(error["details"]) ? error["details"] : [];
  const delays = details.flatMap((detail) => (isObject(detail) ? [detail["retryDelay"]] : []));
  for (const delay of delays) {
    const [, seconds] = /^(\d+(?:\.\d+)?)s$/.exec(String(delay)) ?? [];
    if (seconds !== undefined) return Number(seconds) * 1000;
  }
  const { resets_in_seconds: inSeconds, resets_at: at } = error;
  if (typeof inSeconds === "number") return inSeconds * 1000;
  if (typeof at === "number" || typeof at === "string") return toResetMs(String(at), now);
  return undefined;
}

function toNumber(value: string | null): number | undefined {
  return value !== null && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
