/** `/metrics` in the text format of Prometheus. */
import type { SharedLoad } from "@sheaf/store/cluster";

/** Bounds of the histogram of request times. Seconds. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Values that a request for the metrics reads. */
interface Gauges {
  readonly runningResponses: number;
  readonly openStreams: number;
  /** True if `/readyz` answers that the server is ready. */
  readonly isReady: boolean;
  /** Load of the database's servers; undefined without a database, or if it doesn't answer. */
  readonly shared: SharedLoad | undefined;
}

/** Creates counters at zero. */
export function createMetrics() {
  const requests = new Map<string, number>();
  const times = { counts: buckets.map(() => 0), sum: 0, count: 0 };
  const ends = new Map<string, number>();
  let starts = 0;
  let recovered = 0;
  const add = (table: Map<string, number>, name: string): void => void table.set(name, (table.get(name) ?? 0) + 1);
  return {
    /** Counts one answer; `route` as in the description of the API, or `other`. Seconds. */
    countRequest(method: string, route: string, status: number, seconds: number): void {
      add(requests, `method="${method}",route="${route}",status="${status}"`);
      times.sum += seconds;
      times.count += 1;
      const index = buckets.findIndex((bound) => seconds <= bound);
      if (index !== -1) times.counts[index]! += 1;
    },
    countStart: (): void => void (starts += 1),
    /** Counts the `reason` of `run_end`. */
    countEnd: (reason: string): void => add(ends, `reason="${reason}"`),
    countRecovered: (): void => void (recovered += 1),
    format: ({ runningResponses, openStreams, isReady, shared }: Gauges): string =>
      [
        formatMetric("sheaf_http_requests_total", "counter", "Answers, by method, route and status.", requests),
        formatTimes(times),
        formatMetric("sheaf_responses_started_total", "counter", "Responses that have begun.", starts),
        formatMetric("sheaf_responses_ended_total", "counter", "Responses that have ended, by reason.", ends),
        formatMetric(
          "sheaf_responses_recovered_total",
          "counter",
          "Responses of dead processes, ended here.",
          recovered,
        ),
        formatMetric("sheaf_responses_running", "gauge", "Responses that are running.", runningResponses),
        formatMetric("sheaf_streams_open", "gauge", "Event streams that are open.", openStreams),
        formatMetric(
          "sheaf_ready",
          "gauge",
          "Whether this server takes new requests, as /readyz says.",
          Number(isReady),
        ),
        shared ? formatShared(shared) : "",
        formatProcess(),
      ].join(""),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;

function formatMetric(
  name: string,
  type: "counter" | "gauge",
  help: string,
  value: number | ReadonlyMap<string, number>,
): string {
  const rows =
    typeof value === "number"
      ? `${name} ${value}\n`
      : [...value].map(([labels, count]) => `${name}{${labels}} ${count}\n`).join("");
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${rows}`;
}

function formatTimes(times: {
  readonly counts: readonly number[];
  readonly sum: number;
  readonly count: number;
}): string {
  const name = "sheaf_http_request_duration_seconds";
  let below = 0;
  const rows = buckets.map((bound, index) => `${name}_bucket{le="${bound}"} ${(below += times.counts[index]!)}\n`);
  return [
    `# HELP ${name} Time from a request to the end of its answer.\n# TYPE ${name} histogram\n`,
    ...rows,
    `${name}_bucket{le="+Inf"} ${times.count}\n${name}_sum ${times.sum}\n${name}_count ${times.count}\n`,
  ].join("");
}

/** Formats the load of the whole database, which each server reports: take the largest value, not the sum. */
function formatShared({ nodes, running, waiting, oldestSeconds }: SharedLoad): string {
  return [
    formatMetric("sheaf_cluster_nodes", "gauge", "Servers of the database that are alive.", nodes),
    formatMetric("sheaf_cluster_responses_running", "gauge", "Responses that run at all servers.", running),
    formatMetric("sheaf_queue_waiting", "gauge", "Messages that wait for their turn in the database.", waiting),
    formatMetric("sheaf_queue_oldest_seconds", "gauge", "Age of the oldest message that waits.", oldestSeconds),
  ].join("");
}

/** Formats the metrics of the process, named as in every exporter of Prometheus. */
function formatProcess(): string {
  const { user, system } = process.cpuUsage();
  return [
    formatMetric("process_cpu_seconds_total", "counter", "CPU time used.", (user + system) / 1e6),
    formatMetric("process_resident_memory_bytes", "gauge", "Memory that is resident.", process.memoryUsage.rss()),
    formatMetric("process_uptime_seconds", "gauge", "Time since the start.", process.uptime()),
  ].join("");
}

/** Writes one line of the log. */
export type Log = (entry: Readonly<Record<string, unknown>>) => void;
