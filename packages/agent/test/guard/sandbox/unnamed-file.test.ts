import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { areFilesReachable } from "../../../src/guard/sandbox/unnamed-file.ts";

const source = new URL("../../../src/guard/sandbox/unnamed-file.ts", import.meta.url).href;

/** What opening a file of 4,000 bytes gives where files take 1,024. */
function openCut(content: string): Promise<string> {
  const program = `
    import { openUnnamedFile } from ${JSON.stringify(source)};
    import { readdirSync } from "node:fs";
    const count = () => readdirSync("/proc/self/fd").length;
    const before = count();
    try { openUnnamedFile(${content}); console.log("opened"); }
    catch (error) { console.log(error.code, count() - before); }`;
  const shell = `trap "" XFSZ; ulimit -f 1; exec "$0" --input-type=module -e "$1" 2>/dev/null`;
  return new Promise((resolve) => {
    execFile("bash", ["-c", shell, process.execPath, program], (_, stdout) => resolve(stdout.trim()));
  });
}

describe.skipIf(process.platform !== "linux")("a file without a name", () => {
  test.each(['"x".repeat(4000)', "new Uint8Array(4000)"])(
    verifies("S-30", "is whole, or there is none: %s"),
    async (content) => {
      expect(await openCut(content)).toBe("EFBIG 0");
    },
  );
});

describe("a file that is made", () => {
  const temporary = process.env.TMPDIR;
  let folder = "";
  beforeEach(() => (folder = realpathSync(mkdtempSync(join(tmpdir(), "reachable-")))));
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
    if (temporary === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = temporary;
  });

  test(verifies("S-30", "can be reached where the folder for such files is inside, also by a link"), () => {
    const [inner, link, beside] = [join(folder, "a", "tmp"), join(folder, "link"), join(folder, "a b")];
    mkdirSync(inner, { recursive: true });
    mkdirSync(beside);
    symlinkSync(inner, link);
    for (const place of [inner, link]) {
      process.env.TMPDIR = place;
      expect(areFilesReachable([beside, join(folder, "a")])).toBe(true);
      expect(areFilesReachable([beside])).toBe(false);
    }
  });
});
