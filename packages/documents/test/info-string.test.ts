import { describe, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { parseInfoString } from "../src/info-string.ts";

describe("parseInfoString", () => {
  test(verifies(["N19"], "the table of the contract"), () => {
    const parse = (info: string): unknown[] => {
      const segment = parseInfoString(info);
      if (segment.type === "code_block") return [segment.language, segment.info];
      return [segment.startLine, segment.endLine, segment.filePath];
    };
    expect(parse("12:14:src/main.py")).toEqual([12, 14, "src/main.py"]);
    expect(parse("120:135:c:\\Users\\Admin\\a b.c")).toEqual([120, 135, "c:\\Users\\Admin\\a b.c"]);
    expect(parse("12:14:vscode-remote://ssh:22/a.ts")).toEqual([12, 14, "vscode-remote://ssh:22/a.ts"]);
    for (const info of ["12:src/a.ts", "14:12:a.ts", "0:2:a.ts", "1:2:", "ts:src/a.ts", ""]) {
      expect(parse(info)).toEqual([info, undefined]);
    }
    expect(parse('ts title="a b.ts" {1,3}')).toEqual(["ts", 'ts title="a b.ts" {1,3}']);
  });

  test(verifies(["N19"], "leading zeros count, line numbers beyond all measure make no reference"), () => {
    expect(parseInfoString("007:08:a")).toMatchObject({ startLine: 7, endLine: 8 });
    expect(parseInfoString("1:9007199254740991:a")).toMatchObject({ endLine: Number.MAX_SAFE_INTEGER });
    expect(parseInfoString("1:9007199254740993:a")).toEqual({ type: "code_block", language: "1:9007199254740993:a" });
  });

  test(verifies(["N12", "N20"], "a reference has the language of its file, or none"), () => {
    expect(parseInfoString("1:1:a.go")).toMatchObject({ language: "go" });
    expect(parseInfoString("1:1:a")).toMatchObject({ language: "" });
  });

  test(verifies(["N23"], "purpose is taken from its attribute only, the first valid one"), () => {
    const parse = (info: string): string | undefined => {
      const segment = parseInfoString(info);
      return segment.type === "code_block" ? segment.purpose : "reference";
    };
    expect(parse("js purpose=example")).toBe("example");
    expect(parse("js\tpurpose='new_code'")).toBe("new_code");
    expect(parse('js purpose="suggestion" purpose=example')).toBe("suggestion");
    expect(parse("js purpose=x purpose=example")).toBe("example");
    for (const info of ["purpose=example", "js example", "js purpose=", "js purpose", "js xpurpose=example"]) {
      expect(parse(info)).toBeUndefined();
    }
    expect(parse('js a="purpose=example"')).toBeUndefined();
  });
});
