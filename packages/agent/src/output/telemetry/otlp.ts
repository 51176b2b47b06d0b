/** OTLP in JSON, as `opentelemetry.proto.collector` defines it: ids in hex, 64-bit integers as text. */
import type { Attributes, Measurement, Span } from "./run-spans.ts";

const scope = { name: "sheaf" };

function toValue(value: NonNullable<Attributes[string]>): unknown {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") return Number.isInteger(value) ? { intValue: `${value}` } : { doubleValue: value };
  return { arrayValue: { values: value.map(toValue) } };
}

function toKeyValues(attributes: Attributes): unknown[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: toValue(value) }],
  );
}

function toNano(milliseconds: number): string {
  return `${Math.round(milliseconds)}000000`;
}

/** Returns the body of `/v1/traces`. */
export function encodeTraces(spans: readonly Span[], resource: Attributes): unknown {
  const encoded = spans.map(({ kind, start, end, attributes, ...span }) => ({
    ...span,
    kind: kind === "client" ? 3 : 1,
    startTimeUnixNano: toNano(start),
    endTimeUnixNano: toNano(Math.max(start, end)),
    attributes: toKeyValues(attributes),
    status: attributes["error.type"] === undefined ? {} : { code: 2, message: attributes["error.type"] },
  }));
  const scopeSpans = [{ scope, spans: encoded }];
  return { resourceSpans: [{ resource: { attributes: toKeyValues(resource) }, scopeSpans }] };
}

/** Bounds that the conventions advise. Seconds. */
const durations = { unit: "s", bounds: Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power) };

const metrics: Readonly<Record<Measurement["metric"], { readonly unit: string; readonly bounds: readonly number[] }>> =
  {
    "gen_ai.client.operation.duration": durations,
    "gen_ai.client.token.usage": { unit: "{token}", bounds: Array.from({ length: 14 }, (_, power) => 4 ** power) },
    "gen_ai.execute_tool.duration": durations,
    "gen_ai.invoke_agent.duration": durations,
  };

interface Point {
  readonly metric: string;
  readonly attributes: Attributes;
  readonly counts: number[];
  sum: number;
  count: number;
  min: number;
  max: number;
}

/** Measurements since `start`, summed up. */
export interface Histograms {
  add(measurements: readonly Measurement[]): void;
  /** Returns the body of `/v1/metrics`. */
  encode(time: number, resource: Attributes): unknown;
}

/** Creates empty histograms. `start`: milliseconds since 1970. */
export function createHistograms(start: number): Histograms {
  const points = new Map<string, Point>();
  return {
    add(measurements) {
      for (const { metric, value, attributes } of measurements) {
        const { bounds } = metrics[metric];
        const key = JSON.stringify([metric, attributes]);
        const counts = Array.from({ length: bounds.length + 1 }, () => 0);
        const point = points.get(key) ?? { metric, attributes, counts, sum: 0, count: 0, min: value, max: value };
        points.set(key, point);
        const bucket = bounds.findIndex((bound) => value <= bound);
        point.counts[bucket === -1 ? bounds.length : bucket]! += 1;
        point.sum += value;
        point.count += 1;
        point.min = Math.min(point.min, value);
        point.max = Math.max(point.max, value);
      }
    },
    encode(time, resource) {
      const encoded = Object.entries(metrics).flatMap(([name, { unit, bounds }]) => {
        const dataPoints = [...points.values()]
          .filter(({ metric }) => metric === name)
          .map(({ attributes, counts, count, sum, min, max }) => ({
            attributes: toKeyValues(attributes),
            startTimeUnixNano: toNano(start),
            timeUnixNano: toNano(time),
            count: `${count}`,
            sum,
            min,
            max,
            bucketCounts: counts.map(String),
            explicitBounds: bounds,
          }));
        return dataPoints.length > 0 ? [{ name, unit, histogram: { aggregationTemporality: 2, dataPoints } }] : [];
      });
      const scopeMetrics = [{ scope, metrics: encoded }];
      return { resourceMetrics: [{ resource: { attributes: toKeyValues(resource) }, scopeMetrics }] };
    },
  };
}
