/** The targets of telemetry, by the variables of OpenTelemetry. Without an endpoint, Sheaf sends none (C67). */
import type { Environment } from "@sheaf/base/paths";

export interface SignalTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface TelemetrySettings {
  readonly traces: SignalTarget | undefined;
  readonly metrics: SignalTarget | undefined;
  readonly resource: Readonly<Record<string, string>>;
  /** The span around the run, by `TRACEPARENT`. */
  readonly parent: { readonly traceId: string; readonly spanId: string } | undefined;
  /** Texts, arguments and results are in the spans. */
  readonly capturesContent: boolean;
}

export function findTelemetrySettings(environment: Environment): TelemetrySettings | undefined {
  if (isTrue(environment["OTEL_SDK_DISABLED"])) return undefined;
  const parent = parseParent(environment["TRACEPARENT"]);
  // If the caller does not record its trace, Sheaf does not record this part of it.
  const traces = parent?.isSampled === false ? undefined : findTarget("TRACES", "/v1/traces", environment);
  const metrics = findTarget("METRICS", "/v1/metrics", environment);
  if (!traces && !metrics) return undefined;
  const named = parsePairs(environment["OTEL_RESOURCE_ATTRIBUTES"]);
  const serviceName = environment["OTEL_SERVICE_NAME"] || named["service.name"] || "sheaf";
  return {
    traces,
    metrics,
    resource: { ...named, "service.name": serviceName },
    parent,
    capturesContent: isTrue(environment["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"]),
  };
}

function isTrue(value: string | undefined): boolean {
  return value?.trim().toLowerCase() === "true";
}

/** Undefined if the signal is off, its protocol is not HTTP, or its address is invalid. */
function findTarget(signal: "TRACES" | "METRICS", path: string, environment: Environment): SignalTarget | undefined {
  const find = (name: string): string | undefined =>
    environment[`OTEL_EXPORTER_OTLP_${signal}_${name}`] || environment[`OTEL_EXPORTER_OTLP_${name}`] || undefined;
  const exporters = (environment[`OTEL_${signal}_EXPORTER`] || "otlp").split(",").map((name) => name.trim());
  if (!exporters.includes("otlp") || find("PROTOCOL") === "grpc") return undefined;
  const own = environment[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`];
  const base = environment["OTEL_EXPORTER_OTLP_ENDPOINT"];
  const url = own || (base && `${base.replace(/\/+$/, "")}${path}`);
  if (!url || !/^https?:$/.test(URL.parse(url)?.protocol ?? "")) return undefined;
  return { url, headers: parsePairs(find("HEADERS")) };
}

/** Parses `a=1,b=%202`, and skips parts without `=`. */
function parsePairs(text = ""): Record<string, string> {
  const pairs = text.split(",").flatMap((pair): [string, string][] => {
    const equals = pair.indexOf("=");
    return equals > 0 ? [[pair.slice(0, equals).trim(), decodeValue(pair.slice(equals + 1).trim())]] : [];
  });
  return Object.fromEntries(pairs);
}

function decodeValue(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function parseParent(text = ""): { traceId: string; spanId: string; isSampled: boolean } | undefined {
  const form = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]([0-9a-f])/;
  const [, traceId, spanId, flags = ""] = form.exec(text) ?? [];
  return traceId && spanId ? { traceId, spanId, isSampled: Number.parseInt(flags, 16) % 2 === 1 } : undefined;
}
