/** Sends what runs were to a collector of OpenTelemetry, by OTLP over HTTP in JSON (C67). It never fails a run. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RunEvent } from "@sheaf/protocol";
import { waitAtMost } from "@sheaf/base/wait-at-most";
import type { TextMask } from "@sheaf/base/text-mask";
import { sheafVersion } from "@sheaf/base/version";
import type { SignalTarget, TelemetrySettings } from "../config/telemetry-settings.ts";
import { createEventMask } from "../output/event-mask.ts";
import { createHistograms, encodeTraces } from "../output/telemetry/otlp.ts";
import { SpanCollector } from "../output/telemetry/run-spans.ts";

export interface Telemetry {
  /** Returns what takes the events of one run; with the last one they are on their way. */
  startRun(): (events: readonly RunEvent[]) => void;
  /** Waits for what is on its way, for a second at most. Never rejects. */
  flush(): Promise<void>;
}

export interface TelemetryPorts {
  readonly fetch: typeof fetch;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly mask: TextMask;
  /** Of this server, or of this run. */
  readonly instanceId: string;
}

/** For each of two tries. Milliseconds. */
const TIMEOUT_MS = 5000;

/** Before the second try. Milliseconds. */
const PAUSE_MS = 200;

/** How long the end of a process may wait. Milliseconds. */
const FLUSH_MS = 1000;

/** Requests on their way; with more, a run is left out. */
const MAX_PENDING = 16;

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
  const pending = new Set<Promise<void>>();

  const send = (target: SignalTarget | undefined, toBody: () => unknown): void => {
    if (!target || pending.size >= MAX_PENDING) return;
    const sending = post(target, JSON.stringify(toBody()), ports.fetch);
    pending.add(sending);
    void sending.finally(() => pending.delete(sending));
  };

  return {
    startRun() {
      const collector = new SpanCollector(settings);
      const hasTexts = settings.capturesContent;
      const mask = hasTexts ? createEventMask({ mask: ports.mask, masksEdits: true }) : (event: RunEvent) => [event];
      return (events) => {
        for (const event of events.flatMap(mask)) {
          collector.push(event);
          if (event.type !== "run_end") continue;
          const { spans, measurements } = collector;
          send(traces, () => encodeTraces(spans, resource));
          histograms.add(measurements);
          if (measurements.length > 0) send(metrics, () => histograms.encode(ports.now(), resource));
        }
      };
    },
    async flush() {
      await waitAtMost(Promise.all(pending), FLUSH_MS);
    },
  };
}

/** Never rejects: a collector that is away loses the run's telemetry, not the run. Headers go to no other host. */
async function post({ url, headers }: SignalTarget, body: string, send: typeof fetch): Promise<void> {
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
      if (!retryable.has(response.status)) return;
    } catch {
      // Tried once more.
    }
    if (!isLast) await sleep(PAUSE_MS);
  }
}
