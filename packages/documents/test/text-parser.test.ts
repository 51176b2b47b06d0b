import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { describeWithFixtures } from "../../../test/support/fixtures.ts";
import { chooseRuns } from "../../../test/support/soak.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createTextParser, type ParsedSegment, parseText } from "../src/text-parser.ts";
import { toMicromarkFences } from "./markdown-oracle.ts";
import { createRandom, parseChunks, toChunks, toRandomChunks } from "./text-cuttings.ts";

interface Case {
  readonly name: string;
  readonly markdown: string;
  /** Closed, unless a segment says otherwise. */
  readonly segments: readonly Record<string, unknown>[];
}

const ownFolder = join(import.meta.dirname, "fixtures/markdown");
const ownFiles = readdirSync(ownFolder).map((name) => ({
  name,
  ...(readJson(join(ownFolder, name)) as { readonly clauses: readonly string[]; readonly cases: readonly Case[] }),
}));
const longestForEveryCut = 4096;

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}

/** Segments with the text of each nested fence in the place of its offset and length. */
function toReadable(segments: readonly ParsedSegment[]): Record<string, unknown>[] {
  return segments.map(({ codeBlocks, ...segment }) => ({
    ...segment,
    ...(codeBlocks && {
      codeBlocks: codeBlocks.map(({ offset, length, language }) => ({
        text: segment.content.slice(offset, offset + length),
        language,
      })),
    }),
  }));
}

/** The ways of cutting a text that break the chunk law: its segments are not those of the complete text. */
function findUnequalCuts(text: string): string[][] {
  const expected = JSON.stringify(parseText(text));
  const random = createRandom(text.length);
  const decoder = new TextDecoder();
  const bytes = Array.from(Buffer.from(text), (byte) => decoder.decode(Uint8Array.of(byte), { stream: true }));
  const cuttings = function* (): Iterable<string[]> {
    yield [...bytes, decoder.decode()];
    for (let length = 1; length <= 5; length += 1) yield toChunks(text, length);
    if (text.length <= longestForEveryCut) {
      for (let at = 0; at <= text.length; at += 1) yield [text.slice(0, at), text.slice(at)];
      for (let round = 0; round < 50; round += 1) yield toRandomChunks(text, random, 1 + round);
    } else {
      for (let round = 0; round < chooseRuns(200, 1000); round += 1)
        yield toRandomChunks(text, random, 1 + (round % 200));
    }
  };
  const unequal: string[][] = [];
  for (const chunks of cuttings()) {
    if (JSON.stringify(parseChunks(chunks)) !== expected) unequal.push(chunks);
  }
  return unequal;
}

for (const { name, clauses, cases } of ownFiles) {
  describe(`own cases in ${name}`, () => {
    test.each(cases)(verifies(clauses, "$name"), ({ markdown, segments }) => {
      expect(toReadable(parseText(markdown))).toEqual(segments.map((segment) => ({ closed: true, ...segment })));
    });

    test(verifies(["N25"], "every cut gives the same segments, single bytes too"), () => {
      expect(cases.flatMap(({ markdown }) => findUnequalCuts(markdown))).toEqual([]);
    });
  });
}

describe("segments", () => {
  test(verifies(["N15"], "a fence at the end of the text is a segment too"), () => {
    expect(parseText("with `@auth`:\n\n```python\n@auth\n```").map(({ type }) => type)).toEqual(["text", "code_block"]);
  });

  test(verifies(["N10"], "blank text never starts"), () => {
    const parser = createTextParser();
    expect([...parser.push(" \n\t\n"), ...parser.push("   "), ...parser.end()]).toEqual([]);
  });

  test(verifies(["N10"], "an empty fence is a segment with empty content"), () => {
    const parser = createTextParser();
    expect([...parser.push("```js\n```"), ...parser.end()]).toEqual([
      { type: "segment_start", segment: { type: "code_block", language: "js" } },
      { type: "segment_end", closed: true },
    ]);
  });

  test(verifies(["N27"], "every parser starts anew"), () => {
    expect(parseChunks(["```js\nx"])).toMatchObject([{ type: "code_block", content: "x", closed: false }]);
    expect(parseChunks(["y\n```"])).toMatchObject([
      { type: "text", content: "y" },
      { type: "code_block", content: "" },
    ]);
  });

  test(verifies(["N47"], "joined deltas are the content"), () => {
    const parser = createTextParser();
    const chunks = toChunks("\n\n  a \n\n```js\n\n x \n\n```\n \nb \n ", 3);
    const deltas = [...chunks.flatMap((chunk) => parser.push(chunk)), ...parser.end()].flatMap((event) =>
      event.type === "segment_delta" ? [event.delta] : event.type === "segment_end" ? ["|"] : [],
    );
    expect(deltas.join("")).toBe("  a|\n x \n|b|");
  });

  test("an empty chunk changes nothing", () => {
    expect(parseChunks(["a", "", "\n", "", "```", "", "\n", "", "x", ""])).toEqual(parseText("a\n```\nx"));
  });
});

describe("what is held back", () => {
  /** The deltas of each chunk, joined with "|" where a segment ends. */
  const push = (...chunks: string[]): string[] => {
    const parser = createTextParser();
    return chunks.map((chunk) =>
      parser
        .push(chunk)
        .map((event) => (event.type === "segment_delta" ? event.delta : event.type === "segment_end" ? "|" : ""))
        .join(""),
    );
  };

  test.each([
    { what: "text goes out at once", chunks: ["Hello wor", "ld, wi"], out: ["Hello wor", "ld, wi"] },
    {
      what: "blanks and line ends wait for text behind them",
      chunks: ["a ", "\n", "\n", " b"],
      out: ["a", "", "", " \n\n b"],
    },
    { what: "blanks inside go out with the text", chunks: ["a b c "], out: ["a b c"] },
    { what: "indentation waits for text", chunks: ["\n  ", "  ", "a"], out: ["", "", "    a"] },
    { what: "two backticks may become a fence", chunks: ["``", "a"], out: ["", "``a"] },
    { what: "a fence line waits for its end", chunks: ["a\n```", "js", "\n", "x"], out: ["a", "", "|", "x"] },
    { what: "a backtick in the info string ends the wait", chunks: ["```", "a", "` b"], out: ["", "", "```a` b"] },
    { what: "backticks inside of a line do not wait", chunks: ["a ```", "b"], out: ["a ```", "b"] },
    { what: "backticks behind four blanks do not wait", chunks: ["    ```", "b"], out: ["    ```", "b"] },
    { what: "a fence in an item does not wait", chunks: ["- a\n  ```", "js"], out: ["- a\n  ```", "js"] },
    { what: "a fence in a quote does not wait", chunks: ["> ```", "js"], out: ["> ```", "js"] },
    { what: "a fence in an HTML block does not wait", chunks: ["<div>\n```", "js"], out: ["<div>\n```", "js"] },
    { what: "marks of blocks do not wait", chunks: ["-", " ", "#", "1."], out: ["-", "", " #", "1."] },
    { what: "an HTML tag does not wait", chunks: ["<a", " b"], out: ["<a", " b"] },
    { what: "a link definition does not wait", chunks: ["[a", "]:", " /u"], out: ["[a", "]:", " /u"] },
    { what: "code goes out at once, its line end waits", chunks: ["```\na", "b \n", "c"], out: ["a", "b ", "\nc"] },
    { what: "blank lines of code wait one line", chunks: ["```\na\n", "\n", "\n", "b"], out: ["a", "\n", "\n", "\nb"] },
    { what: "a closing line waits for its end", chunks: ["```\na\n``", "`", " ", "\n"], out: ["a", "", "", "|"] },
    { what: "no closing line: goes on", chunks: ["```\na\n``", "` ", "b"], out: ["a", "", "\n``` b"] },
    { what: "too short for a closing line", chunks: ["````\n```", "b"], out: ["", "```b"] },
    { what: "the other character does not wait", chunks: ["```\n~~~", "~"], out: ["~~~", "~"] },
    { what: "a closing line by four blanks does not wait", chunks: ["```\n    ", "``"], out: ["    ", "``"] },
    { what: "CR is a line end", chunks: ["```\r", "\na\r", "\nb"], out: ["", "a", "\r\nb"] },
    { what: "half a character waits for the other half", chunks: ["a\ud83d", "\ude42 b"], out: ["a", "🙂 b"] },
    { what: "half a character that is first of all", chunks: ["\ud83d", "\ude42"], out: ["", "🙂"] },
    { what: "half a character behind a blank", chunks: ["a ", "\ud83d", "\ude42"], out: ["a", "", " 🙂"] },
    { what: "half a character in code", chunks: ["```\n\ud83d", "\ude42"], out: ["", "🙂"] },
    { what: "half a character without its other half", chunks: ["\ud83d", "a"], out: ["", "\ud83da"] },
  ])(verifies(["N26"], "$what"), ({ chunks, out }) => {
    expect(push(...chunks)).toEqual(out);
  });

  test(verifies(["N26"], "text starts with its first character that is not blank"), () => {
    const parser = createTextParser();
    expect(parser.push("\n ")).toEqual([]);
    expect(parser.push("a")).toEqual([
      { type: "segment_start", segment: { type: "text" } },
      { type: "segment_delta", delta: " a" },
    ]);
  });

  test(verifies(["N26"], "code starts with the end of its opening line"), () => {
    expect(createTextParser().push("```1:2:a.ts\n")).toMatchObject([{ type: "segment_start" }]);
  });

  test(verifies(["N26"], "of every prefix only a possible fence line and blanks are held"), () => {
    for (const { markdown } of ownFiles.flatMap(({ cases }) => cases)) {
      const parser = createTextParser();
      let emitted = "";
      for (let end = 1; end <= markdown.length; end += 1) {
        for (const event of parser.push(markdown.slice(end - 1, end))) {
          if (event.type === "segment_delta") emitted += event.delta;
        }
        const all = parseText(markdown.slice(0, end)).map(({ content }) => content);
        expect(all.join("").slice(0, emitted.length)).toBe(emitted);
        expect(all.join("").slice(emitted.length)).toMatch(/^[ \t\r\n]*(`*|~*)[ \t]*$/);
      }
    }
  });
});

describe("time", () => {
  const length = 400_000;
  const fill = (part: string): string => part.repeat(Math.ceil(length / part.length));
  test.each([
    ["quotes", fill(">")],
    ["items, then blank lines", `${fill("- ")}a\n${fill("\n")}`],
    ["items in a quote, then blank lines in it", `>${fill("- ")}a\n${fill(">\n")}`],
    ["items, then what may be thematic breaks", `${fill("* ")}a\n${fill("* * * b\n")}`],
    ["items, then a deep indentation", `${fill("- ")}a\n${" ".repeat(length)}b`],
    ["quotes and items", `${fill("> - ")}a\n${fill("> \n")}`],
    ["one run of backticks", fill("`")],
    ["lines that are no fences at their ends", fill("```a`\n")],
    ["one thematic break", fill("- ")],
    ["link definitions without underlines", fill("[a]: /u\n===\n")],
    ["one title of a link definition", `[a]: /u '${fill("x\n")}`],
    ["a tag with many attributes", `<a ${fill("b=c ")}!`],
    ["a tag with many blanks", `<a${fill(" ")}`],
    ["an HTML block", fill("<!--\n")],
    ["nested fences", fill("- ```\n")],
    ["blank lines", ` ${fill(" \n")}`],
    ["an indented fence", `  ~~~\n${fill("  ~~\n")}`],
    ["carriage returns", fill("\r")],
  ])("grows with the length and not with its square, else this takes minutes: %s", { timeout: 20_000 }, (_, text) => {
    expect(parseChunks(toChunks(text, 4))).toEqual(parseChunks([text]));
  });
});

describeWithFixtures("markdown", (folder) => {
  const { cases: handCases } = readJson(join(folder, "hand-cases.json")) as { readonly cases: readonly HandCase[] };
  const { examples } = readJson(join(folder, "commonmark-fenced.json")) as { readonly examples: readonly Example[] };
  const answers = readFileSync(join(folder, "expected.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Answer)
    .map((answer) => ({ ...answer, text: readFileSync(join(folder, answer.file), "utf8") }));

  test.each(handCases)(verifies(["N15", "N16", "N17", "N19", "N24"], "$name"), ({ markdown, documents }) => {
    expect(parseText(markdown).map(toHandForm)).toEqual(documents);
  });

  test.each(answers)(
    verifies(["N15", "N16", "N17", "N18", "N19", "N24"], "$file"),
    ({ text, segments, nestedFences }) => {
      const expected = segments.filter(({ blank }) => blank !== true);
      const actual = parseText(text);
      expect(actual.map(({ type, content }) => [type, content.length, toSha256(content)])).toEqual(
        expected.map(({ type, contentLength, contentSha256 }) => [type, contentLength, contentSha256]),
      );
      expect(actual.filter(({ type }) => type !== "text").map(toInfoAndClosed)).toEqual(
        expected.filter(({ type }) => type !== "text").map(({ rawInfo, closed }) => [rawInfo, closed]),
      );
      // The content stands at the given place of the source.
      for (const [at, { start, end }] of expected.entries()) {
        expect(text.slice(start, end)).toContain(actual[at]?.content);
      }
      expect(actual.flatMap(({ codeBlocks }) => codeBlocks ?? []).map(({ language }) => language)).toEqual(
        nestedFences.map(({ rawInfo }) => rawInfo.split(" ")[0]),
      );
    },
  );

  const texts = [...handCases, ...examples].map(({ markdown }) => markdown).concat(answers.map(({ text }) => text));
  test(verifies(["N16", "N17", "N24"], `${texts.length} texts have the top-level fences of micromark`), () => {
    for (const text of texts) {
      const fences = parseText(text).filter(({ type }) => type !== "text");
      expect(fences.map((fence) => [fence.content, ...toInfoAndClosed(fence)])).toEqual(
        toMicromarkFences(text).map(({ content, info, closed }) => [content, info, closed]),
      );
    }
  });

  test(verifies(["N25"], "every cut of a hand case or an example gives the same segments"), () => {
    expect([...handCases, ...examples].flatMap(({ markdown }) => findUnequalCuts(markdown))).toEqual([]);
  });

  test.each(answers)(verifies(["N25"], "every cut of $file gives the same segments"), ({ text }) => {
    expect(findUnequalCuts(text)).toEqual([]);
  });
});

interface HandCase {
  readonly name: string;
  readonly markdown: string;
  readonly documents: readonly object[];
}

interface Example {
  readonly example: number;
  readonly markdown: string;
}

interface Answer {
  readonly file: string;
  readonly segments: readonly {
    readonly type: string;
    readonly start: number;
    readonly end: number;
    readonly blank?: boolean;
    readonly closed?: boolean;
    readonly rawInfo?: string;
    readonly contentLength: number;
    readonly contentSha256: string;
  }[];
  readonly nestedFences: readonly { readonly rawInfo: string }[];
}

function toSha256(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** The form of the hand cases: `meta` is what the info string holds behind the language. */
function toHandForm(segment: ParsedSegment): object {
  const { type, content, closed } = segment;
  if (segment.type === "text") return { type, content };
  if (segment.type === "code_block") {
    const { language, info } = segment;
    return { type, content, closed, language, meta: info?.slice(language.length).trim() ?? "" };
  }
  const { filePath, startLine, endLine } = segment;
  return { type, content, closed, startLine, endLine, filePath };
}

function toInfoAndClosed(segment: ParsedSegment): [string | undefined, boolean] {
  if (segment.type === "text") return [undefined, segment.closed];
  if (segment.type === "code_block") return [segment.info ?? segment.language, segment.closed];
  return [`${segment.startLine}:${segment.endLine}:${segment.filePath}`, segment.closed];
}
