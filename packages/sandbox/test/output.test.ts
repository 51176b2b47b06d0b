/** Output of any size and kind. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createOutputStreams } from "../src/follow/output-streams.ts";
import { createBoundedOutput } from "@sheaf/base/files/bounded-output";
import { chooseRows } from "../../../test/support/depth.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { describeBothWays } from "./sandbox-run.ts";

const limit = 256 * 1024;
const notice = /\n\[\.\.\. (\d+) bytes cut out; the first (\d+) and the last (\d+) bytes are shown \.\.\.\]\n/;

/** Growth of this process's memory while something runs. Bytes. */
async function measureGrowth(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage().rss;
  let highest = before;
  const timer = setInterval(() => (highest = Math.max(highest, process.memoryUsage().rss)), 10);
  await work();
  clearInterval(timer);
  return Math.max(highest, process.memoryUsage().rss) - before;
}

test(
  verifies("R-14", "what is kept depends neither on cuts of the output nor on when it moves to the background"),
  () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.constant("plain\n"), fc.constant("日本語")), {
          maxLength: 20,
        }),
        fc.array(fc.nat(255), { maxLength: 6 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 9 }),
        fc.constantFrom(0, 2, 1000),
        (texts, bad, sizes, moves) => {
          const bytes = Buffer.concat([Buffer.from(texts.join("")), Uint8Array.from(bad), Buffer.from("é end")]);
          let shown = "";
          const streams = createOutputStreams({
            onOutput: (_, text) => (shown += text),
            onBackgroundOutput: (part) => (shown += Buffer.from(part).toString()),
          });
          for (let at = 0, round = 0; at < bytes.length; round += 1) {
            const size = sizes[round % sizes.length]!;
            if (round === moves) {
              streams.flush();
              streams.moveToBackground();
            }
            streams.write("stdout", bytes.subarray(at, at + size));
            at += size;
          }
          streams.end();
          const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
          expect([streams.toResult().output, shown]).toEqual([text, text]);
        },
      ),
    );
  },
);

describeBothWays("large output", (runCommand) => {
  const rows = [
    ["100 MB of lines", "yes 'a line of forty characters, more or less' | head -c 100000000", 100_000_000],
    ["one line of 50 MB", "head -c 50000000 /dev/zero | tr '\\0' x", 50_000_000],
    ["20 MB of random bytes", "head -c 20000000 /dev/urandom", 20_000_000],
    ["20 MB of NUL", "head -c 20000000 /dev/zero", 20_000_000],
    ["10 MB on stderr", "head -c 10000000 /dev/zero | tr '\\0' e >&2", 10_000_000],
    ["10 MB of characters with three bytes", "yes 日本語 | head -c 10000001", 10_000_001],
  ] as const;
  test.each(chooseRows(rows, 2))(
    verifies(["R-14", "N37"], "%s: memory bounded, middle cut out with byte counts"),
    async (_, command, bytes) => {
      const start = performance.now();
      let outcome: Awaited<ReturnType<typeof runCommand>> | undefined;
      const growth = await measureGrowth(async () => {
        outcome = await runCommand(command);
      });
      expect(performance.now() - start).toBeLessThan(15_000);
      expect(growth).toBeLessThan(64 * 1024 * 1024);
      expect(outcome).toMatchObject({ exitCode: 0, truncated: true, bytes });
      for (const text of [outcome!.output, outcome!.stdout || outcome!.stderr]) {
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limit);
        expect(Buffer.byteLength(text)).toBeGreaterThan(limit - 200);
        expect(text.isWellFormed()).toBe(true);
        expect(text).toMatch(notice);
      }
    },
  );

  test(verifies("R-14", "endless output ends by the timeout, with head and tail"), async () => {
    const outcome = await runCommand("echo first; yes", { timeoutMs: 500 });
    expect(outcome).toMatchObject({ exitCode: 124, timedOut: true, truncated: true });
    expect(outcome.output.startsWith("first\ny\ny\n")).toBe(true);
    expect(outcome.output.endsWith("y\n") || outcome.output.endsWith("y")).toBe(true);
  });

  test("a stream that is small stays whole beside one that is not", async () => {
    const outcome = await runCommand("echo small >&2; head -c 1000000 /dev/zero | tr '\\0' x");
    expect(outcome.stderr).toBe("small\n");
    expect(outcome).toMatchObject({ truncated: true, bytes: 1_000_006 });
  });

  test("live output ends above 1 MiB with one notice", async () => {
    const live: string[] = [];
    await runCommand("head -c 3000000 /dev/zero | tr '\\0' x", { onOutput: (_, text) => live.push(text) });
    const text = live.join("");
    expect(text.length).toBeLessThan(1024 * 1024 + 100);
    expect(text.length).toBeGreaterThan(900 * 1024);
    expect(text.split("not shown live")).toHaveLength(2);
    expect(text).toMatch(/not shown live \.\.\.\]\n$/);
  });
});

describeBothWays("live output", (runCommand) => {
  test("many small writes make few live pieces, which come soon", async () => {
    const live: string[] = [];
    const start = performance.now();
    let first = 0;
    const onOutput = (_: string, text: string): void => {
      first ||= performance.now() - start;
      live.push(text);
    };
    const outcome = await runCommand("for i in {1..20000}; do echo $i; done; sleep 0.5", { onOutput });
    expect(live.join("")).toBe(outcome.output);
    expect(live.length).toBeLessThan(200);
    expect(performance.now() - start - first).toBeGreaterThan(300);
  });
});

describeBothWays("bytes and characters", (runCommand) => {
  test.each([
    ["printf 'a\\377b'", "a\ufffdb"],
    ["printf 'a\\303'", "a\ufffd"],
    ["printf '\\303'; sleep 0.1; printf '\\244'", "ä"],
    ["printf '\\360\\237'; sleep 0.1; printf '\\230\\200'", "\u{1f600}"],
    ["printf '\\355\\240\\200'", "\ufffd\ufffd\ufffd"],
    ["printf '\\357\\273\\277a'", "\ufeffa"],
    ["printf 'a\\0b\\033[31mc\\r\\n'", "a\0b\u001b[31mc\r\n"],
    ["printf '\\303'; sleep 0.1; printf x >&2; sleep 0.1; printf '\\244'", "xä"],
  ])(verifies("N37", "%s"), async (command, expected) => {
    expect((await runCommand(command)).output).toBe(expected);
  });
});

describe("cuts", () => {
  test(verifies("R-14", "what is kept is a head and a tail of the text, and the counts agree"), () => {
    const text = fc.string({ unit: fc.constantFrom("a", "ä", "日", "\u{1f600}", "\n"), maxLength: 400 });
    fc.assert(
      fc.property(fc.array(text, { maxLength: 12 }), fc.integer({ min: 140, max: 600 }), (parts, size) => {
        const bounded = createBoundedOutput(size);
        for (const part of parts) bounded.append(Buffer.from(part));
        const all = parts.join("");
        const kept = bounded.toText();
        const isCut = Buffer.byteLength(all) > size;
        expect(bounded.isCut()).toBe(isCut);
        if (!isCut) {
          expect(kept).toBe(all);
          return;
        }
        const [found = "", cut, first, last] = notice.exec(kept) ?? [];
        const [head = "", tail = ""] = kept.split(found);
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(size);
        expect([Buffer.byteLength(head), Buffer.byteLength(tail)]).toEqual([Number(first), Number(last)]);
        expect(Number(cut) + Number(first) + Number(last)).toBe(Buffer.byteLength(all));
        expect(all.startsWith(head) && all.endsWith(tail)).toBe(true);
      }),
    );
  });
});

describeBothWays("pipes", (runCommand) => {
  test(verifies("R-13", "a daemon that keeps the output open does not hold the command"), async () => {
    const start = performance.now();
    const outcome = await runCommand("echo begin; setsid sleep 30 & echo end");
    expect(outcome).toMatchObject({ exitCode: 0, stdout: "begin\nend\n" });
    expect(performance.now() - start).toBeLessThan(2000);
  });

  test("what a child in the background says right after the end is still there", async () => {
    expect((await runCommand("(sleep 0.05; echo late) & echo end")).stdout).toBe("end\nlate\n");
  });

  test("output that its readers close early ends as the shell says", async () => {
    expect(await runCommand("yes | head -n 2")).toMatchObject({ exitCode: 0, stdout: "y\ny\n" });
  });
});
