/** Sends facts about runs to a collector of OpenTelemetry, by OTLP over HTTP in JSON (C67). It never fails a run. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Notice, RunEvent } from "@sheaf/protocol";
import { waitAtMost } from "@sheaf/base/wait-at-most";
import type { TextMask } from "@sheaf/base/text-mask";
import { sheafVersion } from "@sheaf/base/version";
import type { SignalTarget, TelemetrySettings } from "../config/telemetry-settings.ts";
import { createEventMask } from "../output/event-mask.ts";
import { createHistograms, encodeTraces } from "../output/telemetry/otlp.ts";
import { type Span, SpanCollector } from "../output/telemetry/run-spans.ts";

export interface Telemetry {
  /** Returns a function for the events of one run. A span leaves soon after its end, the run's with the last event. */
  startRun(): (events: readonly RunEvent[]) => void;
  /** The losses since the last call. */
  takeLosses(): readonly Notice[];
  /** Waits for data on its way, for a second at most. Never rejects. */
  flush(): Promise<void>;
}

export interface TelemetryPorts {
  readonly fetch: typeof fetch;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly mask: TextMask;
  /** Id of this server, or of this run. */
  readonly instanceId: string;
}

/** Time limit of each of two tries. Milliseconds. */
const TIMEOUT_MS = 5000;

/** Pause before the second try. Milliseconds. */
const PAUSE_MS = 200;

/** Time that the end of a process may wait. Milliseconds. */
const FLUSH_MS = 1000;

/** The longest wait of a span for others. Milliseconds. */
const BATCH_MS = 500;

/** Spans of one request. */
const MAX_BATCH = 512;

/** Spans that wait while a request is on its way; further ones are lost. */
const MAX_WAITING = 4096;

const retryable: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

export function createTelemetry(settings: TelemetrySettings, ports: TelemetryPorts): Telemetry {
  const { traces, metrics } = settings;
  const histograms = createHistograms(ports.now());
  const resource = {
    ...settings.resource,
    "service.version": sheafVersion,
    "service.instance.id": ports.instanceId,
    "telemetry.sdk.name": "sheaf",
    "telemetry.sdk.language": "nodejs",
    "telemetry.sdk.version": sheafVersion,
  };
  const lost = new Map<string, number>();
  const lose = (what: string, count: number): void => void lost.set(what, (lost.get(what) ?? 0) + count);
  const waiting: Span[] = [];
  const sendSpans = createSender(traces, ports.fetch, () => {
    const batch = waiting.splice(0, MAX_BATCH);
    return batch.length === 0
      ? undefined
      : { body: encodeTraces(batch, resource), onLoss: () => lose("spans", batch.length) };
  });
  let hasNews = false;
  const sendMetrics = createSender(metrics, ports.fetch, () => {
    if (!hasNews) return undefined;
    hasNews = false;
    return { body: histograms.encode(ports.now(), resource), onLoss: () => lose("metrics", 1) };
  });
  let timer: NodeJS.Timeout | undefined;
  const flushSpans = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    return sendSpans();
  };
  const addSpans = (spans: readonly Span[]): void => {
    if (!traces || spans.length === 0) return;
    const room = MAX_WAITING - waiting.length;
    waiting.push(...spans.slice(0, room));
    if (spans.length > room) lose("spans", spans.length - room);
    timer ??= setTimeout(() => void flushSpans(), BATCH_MS).unref();
  };

  return {
    startRun() {
      const collector = new SpanCollector(settings);
      const hasTexts = settings.capturesContent;
      const mask = hasTexts ? createEventMask({ mask: ports.mask, masksEdits: true }) : (event: RunEvent) => [event];
      return (events) => {
        for (const event of events.flatMap(mask)) {
          collector.push(event);
          const { spans, measurements } = collector.take();
          addSpans(spans);
          histograms.add(measurements);
          hasNews ||= measurements.length > 0;
          if (event.type === "run_end") void Promise.all([flushSpans(), sendMetrics()]);
        }
      };
    },
    takeLosses() {
      const notices = [...lost].map(([what, count]) => {
        const { url = "" } = (what === "spans" ? traces : metrics) ?? {};
        const message = `the collector ${URL.parse(url)?.host} did not take ${what === "spans" ? `${count} spans` : what}: check OTEL_EXPORTER_OTLP_ENDPOINT`;
        return { code: "TELEMETRY_LOST", message } as const;
      });
      lost.clear();
      return notices;
    },
    async flush() {
      await waitAtMost(Promise.all([flushSpans(), sendMetrics()]), FLUSH_MS);
    },
  };
}

interface Batch {
  readonly body: unknown;
  readonly onLoss: () => void;
}

/** Sends one request after the other, until no data waits; the result resolves then. */
function createSender(
  target: SignalTarget | undefined,
  send: typeof fetch,
  takeBatch: () => Batch | undefined,
): () => Promise<void> {
  let sending: Promise<void> | undefined;
  const work = async (to: SignalTarget): Promise<void> => {
    for (let batch = takeBatch(); batch; batch = takeBatch()) {
      if (!(await post(to, JSON.stringify(batch.body), send))) batch.onLoss();
    }
    sending = undefined;
  };
  return async () => {
    if (target) await (sending ??= work(target));
  };
}

/** True if the collector took it; never rejects. Headers go to no other host. */
async function post({ url, headers }: SignalTarget, body: string, send: typeof fetch): Promise<boolean> {
  for (const isLast of [false, true]) {
    try {
      const response = await send(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body,
        redirect: "error",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      await response.body?.cancel();
      if (!retryable.has(response.status)) return response.ok;
    } catch {
      // Tried once more.
    }
    if (!isLast) await sleep(PAUSE_MS);
  }
  return false;
}
