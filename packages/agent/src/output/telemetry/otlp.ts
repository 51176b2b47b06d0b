/** OTLP in JSON, as `opentelemetry.proto.collector` defines it: ids in hex, 64-bit integers as text. */
import type { Attributes, Measurement, Span } from "./run-spans.ts";

const scope = { name: "sheaf" };

function toValue(value: string | number | boolean | readonly string[]): unknown {
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

/** The body of `/v1/traces`. */
export function encodeTraces(spans: readonly Span[], resource: Attributes): unknown {
  const encoded = spans.map(({ kind, start, end, attributes, error, ...span }) => ({
    ...span,
    kind: kind === "client" ? 3 : 1,
    startTimeUnixNano: toNano(start),
    endTimeUnixNano: toNano(Math.max(start, end)),
    attributes: toKeyValues(attributes),
    status: error === undefined ? {} : { code: 2, message: error },
  }));
  const scopeSpans = [{ scope, spans: encoded }];
  return { resourceSpans: [{ resource: { attributes: toKeyValues(resource) }, scopeSpans }] };
}

/** As the conventions advise. */
const metrics = {
  "gen_ai.client.token.usage": { unit: "{token}", bounds: Array.from({ length: 14 }, (_, power) => 4 ** power) },
  "gen_ai.client.operation.duration": {
    unit: "s",
    bounds: Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power),
  },
} as const;

interface Point {
  readonly attributes: Attributes;
  readonly counts: number[];
  sum: number;
  count: number;
  min: number;
  max: number;
}

/** Histograms since the process began. */
export interface Histograms {
  add(measurements: readonly Measurement[]): void;
  /** The body of `/v1/metrics`. */
  encode(time: number, resource: Attributes): unknown;
}

/** `start`: milliseconds since 1970. */
export function createHistograms(start: number): Histograms {
  const points = new Map<Measurement["metric"], Map<string, Point>>();
  return {
    add(measurements) {
      for (const { metric, value, attributes } of measurements) {
        const { bounds } = metrics[metric];
        const ofMetric = points.get(metric) ?? new Map<string, Point>();
        points.set(metric, ofMetric);
        const key = JSON.stringify(attributes);
        const counts = Array.from({ length: bounds.length + 1 }, () => 0);
        const point = ofMetric.get(key) ?? { attributes, counts, sum: 0, count: 0, min: value, max: value };
        ofMetric.set(key, point);
        const bucket = bounds.findIndex((bound) => value <= bound);
        point.counts[bucket === -1 ? bounds.length : bucket]! += 1;
        point.sum += value;
        point.count += 1;
        point.min = Math.min(point.min, value);
        point.max = Math.max(point.max, value);
      }
    },
    encode(time, resource) {
      const encoded = [...points].map(([name, ofMetric]) => ({
        name,
        unit: metrics[name].unit,
        histogram: {
          aggregationTemporality: 2,
          dataPoints: [...ofMetric.values()].map(({ attributes, counts, sum, count, min, max }) => ({
            attributes: toKeyValues(attributes),
            startTimeUnixNano: toNano(start),
            timeUnixNano: toNano(time),
            count: `${count}`,
            sum,
            min,
            max,
            bucketCounts: counts.map(String),
            explicitBounds: metrics[name].bounds,
          })),
        },
      }));
      const scopeMetrics = [{ scope, metrics: encoded }];
      return { resourceMetrics: [{ resource: { attributes: toKeyValues(resource) }, scopeMetrics }] };
    },
  };
}
