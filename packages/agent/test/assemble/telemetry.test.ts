import { describe, expect, test } from "vitest";
import { createTextMask } from "@sheaf/base/text-mask";
import { createTelemetry } from "../../src/assemble/telemetry.ts";
import { findTelemetrySettings } from "../../src/config/telemetry-settings.ts";
import { runStart, toLog } from "../output/log.ts";
import { verifies } from "../../../../test/support/verifies.ts";

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector.example/", OTEL_METRICS_EXPORTER: "none" };

/** How often a collector is asked that answers so. */
async function countTries(...answers: readonly (number | Error)[]): Promise<number> {
  let tries = 0;
  const fetch = (_: unknown, { redirect }: RequestInit = {}): Promise<Response> => {
    expect(redirect).toBe("error");
    const answer = answers[Math.min(tries, answers.length - 1)]!;
    tries += 1;
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(new Response("{}", { status: answer }));
  };
  const settings = findTelemetrySettings(endpoint)!;
  const telemetry = createTelemetry(settings, {
    fetch,
    now: () => 1,
    mask: createTextMask(),
    instanceId: "i",
  });
  telemetry.startRun()(toLog(runStart, { type: "run_end", reason: "end_turn" }));
  await telemetry.flush();
  return tries;
}

describe("a collector", () => {
  test.each([
    ["is well", [200], 1],
    ["is busy once", [503, 200], 2],
    ["stays busy", [429], 2],
    ["refuses", [400], 1],
    ["is away", [new Error("ECONNREFUSED")], 2],
  ] as const)(verifies("C67", "that %s"), async (_, answers, tries) => {
    expect(await countTries(...answers)).toBe(tries);
  });
});

describe("the variables", () => {
  test.each([
    [
      "an endpoint for all signals",
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://a:4318/base/" },
      "http://a:4318/base/v1/traces",
    ],
    ["one for traces, as it is", { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://a/x" }, "https://a/x"],
    ["no endpoint", {}, undefined],
    ["another scheme", { OTEL_EXPORTER_OTLP_ENDPOINT: "file:///etc" }, undefined],
    ["another exporter", { OTEL_EXPORTER_OTLP_ENDPOINT: "http://a", OTEL_TRACES_EXPORTER: "zipkin" }, undefined],
  ])(verifies("C67", "%s"), (_, environment: Readonly<Record<string, string>>, url) => {
    expect(findTelemetrySettings(environment)?.traces?.url).toBe(url);
  });

  test(verifies("C67", "headers and attributes are decoded; what is malformed is left out"), () => {
    const settings = findTelemetrySettings({
      ...endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: "a=1, b = x%2Cy=z,c,=d",
      OTEL_RESOURCE_ATTRIBUTES: "team=%zz",
      TRACEPARENT: "00-00000000000000000000000000000000-b7ad6b7169203331-01",
    });
    expect(settings?.traces?.headers).toEqual({ a: "1", b: "x,y=z" });
    expect(settings?.resource).toEqual({ team: "%zz", "service.name": "sheaf" });
    expect(settings?.parent).toBeUndefined();
  });
});
