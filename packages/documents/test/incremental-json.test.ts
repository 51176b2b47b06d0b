import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chooseRuns } from "../../../test/support/soak.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createJsonScanner, type JsonScanEvent } from "../src/incremental-json.ts";
import { toPieces } from "./run-log.ts";

function scan(text: string, size: number): { events: JsonScanEvent[]; state: string } {
  const scanner = createJsonScanner();
  const events = toPieces(text, size).flatMap((piece) => [...scanner.push(piece)]);
  return { events, state: scanner.state };
}

/** The deltas of each string joined: what the scanner says, whatever the cuts. */
function toKnown(events: readonly JsonScanEvent[]): readonly (readonly [string, string])[] {
  const known: [string, string][] = [];
  const texts = new Map<string, string>();
  for (const event of events) {
    if (event.type === "string_delta") texts.set(event.path, (texts.get(event.path) ?? "") + event.delta);
    else known.push([event.path, texts.get(event.path) ?? ""]);
  }
  return known;
}

/** The strings in a value that was parsed, with their JSON pointers. */
function toStrings(value: unknown, path = ""): [string, string][] {
  if (typeof value === "string") return [[path, value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    toStrings(member, `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`),
  );
}

const scalar = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const member = fc.oneof(scalar, fc.jsonValue({ depthSize: "small" }));
const object = fc.dictionary(fc.string({ unit: "binary", maxLength: 8 }), member, { noNullPrototype: true });

describe("the strings of a value", () => {
  test(verifies("N25", "are the same as JSON.parse's, whatever the cuts and the layout"), () => {
    fc.assert(
      fc.property(object, fc.integer({ min: 1, max: 7 }), fc.constantFrom(undefined, 1, "\t"), (value, size, space) => {
        const text = JSON.stringify(value, undefined, space);
        const { events, state } = scan(text, size);
        expect(state).toBe("done");
        // The order of the text: JSON.parse puts numeric keys first.
        expect(toKnown(events).toSorted(byPath)).toEqual(toStrings(JSON.parse(text)).toSorted(byPath));
      }),
      { numRuns: chooseRuns(1500) },
    );
  });

  test(verifies("N25", "come with escapes of every kind, cut anywhere"), () => {
    const text =
      '{"a":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE42x","\\u0062~/":-1.5e+3 , "c" : [ {"d":[]} , "]" ] ,"e":null}';
    for (let size = 1; size <= text.length; size += 1) {
      const { events, state } = scan(text, size);
      expect(state).toBe("done");
      expect(toKnown(events)).toEqual([
        ["/a", '"\\/\b\f\n\r\té🙂x'],
        ["/c/1", "]"],
      ]);
    }
  });

  test("are given as they come", () => {
    const scanner = createJsonScanner();
    expect(scanner.push('{"content":"Hel')).toEqual([{ type: "string_delta", path: "/content", delta: "Hel" }]);
    expect(scanner.push("lo\\")).toEqual([{ type: "string_delta", path: "/content", delta: "lo" }]);
    expect(scanner.push('n"')).toEqual([
      { type: "string_delta", path: "/content", delta: "\n" },
      { type: "string_end", path: "/content" },
    ]);
    expect(scanner.push(',"n":1')).toEqual([]);
    expect(scanner.push("2}")).toEqual([]);
    expect(scanner.state).toBe("done");
  });

  test("never end in half a surrogate pair, written as it is or escaped", () => {
    for (const smile of ["🙂", "\\ud83d\\ude42", "\ud83d\\ude42"]) {
      const text = `{"a":"x${smile}y"}`;
      for (let size = 1; size < text.length; size += 1) {
        const deltas = scan(text, size).events.filter((event) => event.type === "string_delta");
        expect(deltas.every(({ delta }) => delta.isWellFormed())).toBe(true);
        expect(deltas.map(({ delta }) => delta).join("")).toBe("x🙂y");
      }
    }
    expect(toKnown(scan('{"a":"\\ud83d"}', 1).events)).toEqual([["/a", "\ufffd"]]);
  });
});

test("strings that stand deeper have the pointer of all they stand in", () => {
  const text = '{"edits":[{"old/string":"a","new_string":"b","more":{"x":["y"]}},7,"c"],"z":{"q":[]}}';
  expect(toKnown(scan(text, 3).events)).toEqual([
    ["/edits/0/old~1string", "a"],
    ["/edits/0/new_string", "b"],
    ["/edits/0/more/x/0", "y"],
    ["/edits/2", "c"],
  ]);
  expect(toKnown(scan('["a",["b"]]', 2).events)).toEqual([
    ["/0", "a"],
    ["/1/0", "b"],
  ]);
});

describe("text that is no JSON", () => {
  test.each([
    "{a:1}",
    '{"a":1,}',
    '{"a" 1}',
    '{"a":tru}',
    '{"a":01}',
    '{"a":1.}',
    '{"a":+1}',
    '{"a":"\n"}',
    '{"a":"\\x"}',
    '{"a":"\\u12g4"}',
    '{"a":1}}',
    '{"a":[1}',
    "[1,]",
    "}",
    "x",
  ])("%s breaks the scanner once and for all", (text) => {
    for (const size of [1, 3, text.length]) {
      const scanner = createJsonScanner();
      for (const piece of toPieces(text, size)) scanner.push(piece);
      expect(scanner.state).toBe("broken");
      expect(scanner.push('{"b":"c"}')).toEqual([]);
    }
  });

  test(verifies("S-71", "nesting is bounded and prototype keys are plain paths"), () => {
    expect(scan("[".repeat(100_000), 1000).state).toBe("broken");
    expect(toKnown(scan('{"__proto__":"a","constructor":{"x":"b"}}', 2).events)).toEqual([
      ["/__proto__", "a"],
      ["/constructor/x", "b"],
    ]);
  });

  test("never makes it throw", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0nte1.- \nx'.split("")) }), (text) => {
        const { state } = scan(text, 2);
        if (isParsable(text)) expect(state).not.toBe("broken");
        else expect(state === "broken" || isParsable(text) || state === "open").toBe(true);
      }),
      { numRuns: chooseRuns(3000) },
    );
  });
});

test(verifies("N55", "one megabyte in pieces of 4 characters is looked at once"), () => {
  const content = 'const a = "x";\n'.repeat(70_000);
  const { events, state } = scan(JSON.stringify({ target_file: "a.ts", content }), 4);
  expect(state).toBe("done");
  expect(toKnown(events)[1]).toEqual(["/content", content]);
});

function byPath([first]: readonly [string, string], [second]: readonly [string, string]): number {
  return first < second ? -1 : 1;
}

function isParsable(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
