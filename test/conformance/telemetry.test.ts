/** Traces and metrics, as a collector gets them. */
import { describe, expect, test } from "vitest";
import { serveHttp } from "../support/http-server.ts";
import { startServer } from "../support/server.ts";
import { createTestFolder, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

/** Takes requests; `answer`: the status of the request of this number, undefined: none is given. */
async function startCollector(answer: (index: number) => number | undefined = () => 200) {
  const received: Received[] = [];
  let count = 0;
  let arrival = Promise.withResolvers<void>();
  const endpoint = await serveHttp((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
      received.push({ path: request.url ?? "", headers: request.headers, body });
      const status = answer(count);
      count += 1;
      arrival.resolve();
      arrival = Promise.withResolvers();
      if (status !== undefined) response.writeHead(status, { "content-type": "application/json" }).end("{}");
    });
  });
  const ofPath = (path: string): Received[] => received.filter((request) => request.path === path);
  return {
    endpoint,
    received,
    async waitFor(path: string, number: number): Promise<Received[]> {
      while (ofPath(path).length < number) await arrival.promise;
      return ofPath(path);
    },
    spans: (): Span[] => ofPath("/v1/traces").flatMap(({ body }) => toSpans(body)),
    points: (): Point[] => toPoints(ofPath("/v1/metrics").at(-1)?.body),
  };
}

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly attributes: Readonly<Record<string, unknown>>;
}

interface Point {
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly sum: number;
  readonly count: string;
  readonly bucketCounts: readonly string[];
  readonly explicitBounds: readonly number[];
}

type Json = Readonly<Record<string, never>>;

function toAttributes(list: readonly { readonly key: string; readonly value: Json }[]): Record<string, unknown> {
  return Object.fromEntries(
    list.map(({ key, value }) => {
      const [[kind, content] = []] = Object.entries(value);
      if (kind === "arrayValue")
        return [key, (content as unknown as { values: Json[] }).values.map((item) => Object.values(item)[0])];
      return [key, kind === "intValue" ? Number(content) : content];
    }),
  );
}

function toSpans(body: unknown): Span[] {
  const { resourceSpans } = body as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    .map((span) => ({ ...span, attributes: toAttributes(span.attributes as never) }));
}

function toPoints(body: unknown): Point[] {
  const { resourceMetrics } = body as {
    resourceMetrics: { scopeMetrics: { metrics: { name: string; histogram: { dataPoints: Point[] } }[] }[] }[];
  };
  return resourceMetrics.flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) =>
      metrics.flatMap(({ name, histogram }) =>
        histogram.dataPoints.map((point) => ({ ...point, name, attributes: toAttributes(point.attributes as never) })),
      ),
    ),
  );
}

const script = {
  turns: [
    { events: [{ text: "Reading SECRET." }, { call: { tool: "read_file", arguments: { target_file: "a.txt" } } }] },
    { events: [{ call: { tool: "read_file", arguments: { target_file: "missing.txt" } } }] },
    { events: [{ text: "It says SECRET." }] },
  ],
};

function run(environment: Readonly<Record<string, string>>, turns: unknown = script) {
  const cwd = folders.newFolder({ "s.json": JSON.stringify(turns), "a.txt": "SECRET\n" });
  return runSheaf(["-p", "What is SECRET?", "--model", "scripted:s.json", "--output-format", "json"], {
    cwd,
    environment,
  });
}

describe("a run", () => {
  test(verifies("C67", "is a trace of itself, its requests and its calls, without their content"), async () => {
    const collector = await startCollector();
    const { code, stderr, stdout } = await run({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.endpoint}/`,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20abc,x-team=a",
      OTEL_SERVICE_NAME: "reviews",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=ci,service.name=other",
    });
    expect([code, stderr]).toEqual([0, ""]);
    const spans = collector.spans();
    expect(spans.map(({ name }) => name)).toEqual([
      "chat scripted:s", "execute_tool read_file", "chat scripted:s", "execute_tool read_file", "chat scripted:s", "invoke_agent sheaf",
    ]); // prettier-ignore
    const root = spans.at(-1)!;
    const { session_id: session, request_id: request } = JSON.parse(stdout) as Record<string, string>;
    expect(root).toMatchObject({ traceId: request!.replaceAll("-", ""), parentSpanId: "", kind: 1, status: {} });
    expect(root.attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": "scripted",
      "gen_ai.conversation.id": `conv_${session}`,
      "gen_ai.response.finish_reasons": ["end_turn"],
    });
    for (const span of spans) {
      expect([span.traceId, /^[0-9a-f]{16}$/.test(span.spanId)]).toEqual([root.traceId, true]);
      if (span !== root) expect(span.parentSpanId).toBe(root.spanId);
      expect(BigInt(span.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(root.startTimeUnixNano));
      expect(BigInt(span.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(root.endTimeUnixNano));
    }
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
    expect(spans[0]).toMatchObject({ kind: 3, attributes: { "gen_ai.request.model": "scripted:s" } });
    expect(spans[3]).toMatchObject({
      status: { code: 2, message: "FILE_NOT_FOUND" },
      attributes: { "error.type": "FILE_NOT_FOUND" },
    });
    const total = spans
      .filter(({ kind }) => kind === 3)
      .reduce((sum, { attributes }) => sum + Number(attributes["gen_ai.usage.input_tokens"]), 0);
    expect(root.attributes["gen_ai.usage.input_tokens"]).toBe(total);

    const points = collector.points();
    expect(points.map(({ name, attributes, count }) => [name, attributes["gen_ai.token.type"], count])).toEqual([
      ["gen_ai.client.operation.duration", undefined, "3"],
      ["gen_ai.client.token.usage", "input", "3"],
      ["gen_ai.client.token.usage", "output", "3"],
      ["gen_ai.execute_tool.duration", undefined, "1"],
      ["gen_ai.execute_tool.duration", undefined, "1"],
      ["gen_ai.invoke_agent.duration", undefined, "1"],
    ]);
    expect(points[1]!.sum).toBe(total);
    for (const { bucketCounts, explicitBounds, count } of points) {
      expect(bucketCounts.length).toBe(explicitBounds.length + 1);
      expect(bucketCounts.reduce((sum, bucket) => sum + Number(bucket), 0)).toBe(Number(count));
    }
    for (const { headers, body } of collector.received) {
      expect(headers).toMatchObject({ authorization: "Bearer abc", "x-team": "a", "content-type": "application/json" });
      const text = JSON.stringify(body);
      expect(text).toContain('{"key":"service.name","value":{"stringValue":"reviews"}}');
      expect(text).toContain('{"key":"deployment.environment.name","value":{"stringValue":"ci"}}');
      expect(text).not.toContain("SECRET");
    }
  });

  test(verifies("C67", "has its texts, arguments and results where they are asked for"), async () => {
    const collector = await startCollector();
    await run({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.endpoint}/own/path`,
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true",
    });
    expect(collector.received.map(({ path }) => path)).toEqual(["/own/path"]);
    const [chat, tool, ...rest] = toSpans(collector.received[0]!.body);
    expect(chat!.attributes["gen_ai.output.messages"]).toBe(
      '[{"role":"assistant","parts":[{"type":"text","content":"Reading SECRET."}]}]',
    );
    expect(tool!.attributes).toMatchObject({
      "gen_ai.tool.call.arguments": '{"target_file":"a.txt"}',
      "gen_ai.tool.call.result": expect.stringContaining("SECRET") as string,
    });
    expect(rest.at(-1)!.attributes["gen_ai.input.messages"]).toContain("What is SECRET?");
  });

  const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331";
  test.each<[string, Record<string, string>, readonly string[]]>([
    ["OTEL_SDK_DISABLED", { OTEL_SDK_DISABLED: "TRUE" }, []],
    ["OTEL_TRACES_EXPORTER", { OTEL_TRACES_EXPORTER: "none" }, ["/v1/metrics"]],
    ["OTEL_METRICS_EXPORTER", { OTEL_METRICS_EXPORTER: "none" }, ["/v1/traces"]],
    ["grpc", { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, []],
    ["a trace that is not sampled", { TRACEPARENT: `${parent}-00` }, ["/v1/metrics"]],
    ["an address that is none", { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" }, []],
  ])(verifies("C67", "%s is respected"), async (_, variables, paths) => {
    const collector = await startCollector();
    const { code, stderr } = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, ...variables });
    expect([code, stderr]).toEqual([0, ""]);
    expect(collector.received.map(({ path }) => path).toSorted()).toEqual(paths);
  });

  test(verifies("C67", "is part of the caller's trace"), async () => {
    const collector = await startCollector();
    await run({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, TRACEPARENT: `${parent}-01` });
    const spans = collector.spans();
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set(["0af7651916cd43dd8448eb211c80319c"]));
    expect(spans.at(-1)).toMatchObject({ name: "invoke_agent sheaf", parentSpanId: "b7ad6b7169203331" });
  });

  test(verifies("C67", "that fails says how, also one that cannot begin"), async () => {
    const collector = await startCollector();
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint };
    const failing = { turns: [{ events: [{ error: { code: "PROVIDER_REJECTED", message: "no SECRET here" } }] }] };
    const { code } = await run(environment, failing);
    expect(code).not.toBe(0);
    expect(collector.spans().map(({ name, status }) => [name, status.code])).toEqual([
      ["chat scripted:s", 2],
      ["invoke_agent sheaf", 2],
    ]);
    expect(JSON.stringify(collector.received.map(({ body }) => body))).not.toContain("SECRET");
    await runSheaf(["-p", "x", "--model", "scripted:none.json"], { cwd: folders.newFolder(), environment });
    expect(collector.spans().at(-1)).toMatchObject({ name: "invoke_agent sheaf", status: { code: 2 } });
  });

  test(verifies("C67", "is seen while it goes on, and what a collector did not take is a notice"), async () => {
    const collector = await startCollector((index) => (index === 0 ? 200 : 500));
    const [first, second, last] = script.turns;
    const wait = { wait_ms: 1500 };
    const running = run(
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, OTEL_METRICS_EXPORTER: "none" },
      { turns: [first, { events: [wait, ...second!.events] }, { events: [wait, ...last!.events] }] },
    );
    await collector.waitFor("/v1/traces", 1);
    expect(collector.spans().map(({ name }) => name)).toEqual(["chat scripted:s", "execute_tool read_file"]);
    const { code, stdout } = await running;
    const { notices } = JSON.parse(stdout) as { readonly notices: unknown };
    expect([code, notices]).toEqual([
      0,
      [
        {
          code: "TELEMETRY_LOST",
          message: expect.stringMatching(/^the collector 127\.0\.0\.1:\d+ did not take 2 spans:/),
        },
      ],
    ]);
  });

  test.each<[string, (index: number) => number | undefined]>([
    ["is busy", () => 503],
    ["leads elsewhere", () => 302],
    ["never answers", () => undefined],
  ])(verifies("C67", "does not notice a collector that %s"), async (_, answer) => {
    const collector = await startCollector(answer);
    const { code, stderr, stdout } = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("It says SECRET.");
  });

  test(verifies("C67", "without a collector ends as ever"), async () => {
    const { code, stderr } = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" });
    expect([code, stderr]).toEqual([0, ""]);
  });
});

test(verifies("C67", "a server sends each response as a trace of its own, and its metrics add up"), async () => {
  const collector = await startCollector();
  const cwd = folders.newFolder();
  const server = await startServer({
    cwd,
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      TRACEPARENT: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    },
  });
  for (const message of ["one", "two"]) await (await server.chat({ message })).text();
  await collector.waitFor("/v1/traces", 2);
  await collector.waitFor("/v1/metrics", 2);
  expect(await server.stop()).toBe(0);
  const roots = collector.spans().filter(({ name }) => name === "invoke_agent sheaf");
  expect(new Set(roots.map(({ traceId }) => traceId)).size).toBe(2);
  expect(roots.map(({ parentSpanId }) => parentSpanId)).toEqual(["", ""]);
  expect(collector.points().find(({ name }) => name === "gen_ai.client.operation.duration")?.count).toBe("2");
});

test(verifies("C67", "a server logs what its collector did not take"), async () => {
  const collector = await startCollector(() => 500);
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, OTEL_METRICS_EXPORTER: "none" };
  const server = await startServer({ cwd: folders.newFolder(), environment });
  await (await server.chat({ message: "one" })).text();
  await collector.waitFor("/v1/traces", 1);
  await (await server.chat({ message: "two" })).text();
  expect(await server.stop()).toBe(0);
  expect(server.log()).toMatch(/telemetry_lost.*did not take \d+ spans/);
});

test(verifies("C67", "runs of a process that is no server have metrics of their own"), async () => {
  const collector = await startCollector();
  const say = { events: [{ text: "Yes." }] };
  const cwd = folders.newFolder({ "s.json": JSON.stringify({ turns: [say, say] }) });
  const formats = ["--input-format", "stream-json", "--output-format", "stream-json"];
  const message = `${JSON.stringify({ type: "user", message: { role: "user", content: "Now?" } })}\n`;
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, OTEL_TRACES_EXPORTER: "none" };
  await runSheaf(["-p", "--model", "scripted:s.json", ...formats], { cwd, environment, input: message.repeat(2) });
  const bodies = collector.received.map(({ body }) => body);
  expect(bodies.map((body) => toPoints(body)[0]?.count)).toEqual(["1", "1"]);
  const instances = bodies.map((body) =>
    /"service.instance.id","value":\{"stringValue":"[^"]+"/.exec(JSON.stringify(body)),
  );
  expect(new Set(instances.map(String)).size).toBe(2);
});
