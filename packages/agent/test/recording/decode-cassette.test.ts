import { describe, expect, test } from "vitest";
import { SheafError } from "@sheaf/base/errors";
import { decodeCassette } from "../../src/recording/decode-cassette.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { start } from "../run/fake-ports.ts";

const header = JSON.stringify({
  cassette: 1,
  sheafVersion: "0",
  start,
  system: "",
  limits: {},
  stopsOnDenied: false,
  checksAnswer: false,
});
const clock = '{"type":"clock","time":1}';

function findProblem(text: string): string {
  try {
    decodeCassette(text, "run.ndjson");
    return "none";
  } catch (error) {
    if (error instanceof SheafError) return `${error.code}: ${error.message}`;
    throw error;
  }
}

describe("decodeCassette", () => {
  test("reads header and records", () => {
    const bytes = '{"type":"provider_bytes","text":"AAAA","encoding":"base64"}';
    const cassette = decodeCassette(`${header}\n${clock}\n${bytes}\n{"type":"end"}\n`, "run.ndjson");
    expect(cassette.header.start).toEqual(start);
    expect(cassette.records.map(({ type }) => type)).toEqual(["clock", "provider_bytes", "end"]);
  });

  test("takes a last line without its line end if it is whole, and leaves it out if it is torn", () => {
    expect(decodeCassette(`${header}\n${clock}`, "f").records).toHaveLength(1);
    expect(decodeCassette(`${header}\n${clock}\n${clock.slice(0, 9)}`, "f").records).toHaveLength(1);
  });

  test.each([
    ["", "line 1: the header is missing, the recorded run never began"],
    [header.slice(0, 30), "line 1: the header is missing, the recorded run never began"],
    ["# Readme\n\nText\n", "line 1: it is not JSON"],
    ["[1]\n", "line 1: it is not a JSON object"],
    [`${clock}\n`, 'line 1: the header {"cassette":1,…} is missing'],
    ['{"cassette":2}\n', "line 1: its version is 2, this Sheaf reads 1"],
    [`${header.replace('"prompt":"go"', '"prompt":1')}\n`, 'line 1: "prompt" is number, expected string'],
    [`${header}\n${clock}\nnonsense\n${clock}\n`, "line 3: it is not JSON"],
    [`${header}\n\n${clock}\n`, "line 2: it is not JSON"],
    [`${header}\n{"type":"toString"}\n`, 'line 2: the type "toString" is unknown'],
    [`${header}\n{"time":1}\n`, "line 2: the type undefined is unknown"],
    [`${header}\n{"type":"clock","time":"1"}\n`, 'line 2: "time" is string, expected number'],
  ])(verifies("X11", "names the line: %j"), (text, problem) => {
    expect(findProblem(text)).toBe(
      `CONFIG_INVALID: the cassette run.ndjson cannot be used, ${problem}; record again with --record`,
    );
  });
});
