/** Stdin as a prompt, or as context for one. */
import { PassThrough } from "node:stream";
import { expect, test, vi } from "vitest";
import { readStandardInput } from "../src/standard-input.ts";
import { verifies } from "../../../test/support/verifies.ts";

const open = (): NodeJS.ReadStream & PassThrough => new PassThrough() as unknown as NodeJS.ReadStream & PassThrough;

test(verifies("C1", "is read to its end, as UTF-8 without a mark at its head"), async () => {
  const stream = open();
  const read = readStandardInput(stream);
  const bytes = Buffer.from("\uFEFFgrün \u{1F33F}\n");
  // In the middle of a character.
  for (const at of [0, 4, 8, 9]) stream.write(bytes.subarray(at, { 0: 4, 4: 8, 8: 9, 9: bytes.length }[at]));
  stream.end();
  expect(await read).toBe("grün \u{1F33F}\n");
});

test(verifies("C1", "a silent pipe next to a prompt is skipped after 3 s, and that is known"), async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const onSilence = vi.fn<() => void>();
    const silent = readStandardInput(open(), { onSilence });
    vi.advanceTimersByTime(2999);
    expect(onSilence).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(await silent).toBe("");
    expect(onSilence).toHaveBeenCalledOnce();
  } finally {
    vi.useRealTimers();
  }
});

test(verifies("C1", "a pipe that begins in time is read to its end, however long that takes"), async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const onSilence = vi.fn<() => void>();
    const stream = open();
    const begun = readStandardInput(stream, { onSilence });
    vi.advanceTimersByTime(2999);
    stream.write("a");
    await new Promise(setImmediate);
    vi.advanceTimersByTime(60_000);
    stream.end("b");
    expect(await begun).toBe("ab");
    expect(onSilence).not.toHaveBeenCalled();
  } finally {
    vi.useRealTimers();
  }
});

test(verifies("C23", "an abort ends it; what came so far is given"), async () => {
  const stream = open();
  const { signal, abort } = ((controller) => ({ signal: controller.signal, abort: () => controller.abort() }))(
    new AbortController(),
  );
  const read = readStandardInput(stream, { signal });
  stream.write("half");
  await new Promise(setImmediate);
  abort();
  expect(await read).toBe("half");
  expect(stream.destroyed).toBe(true);
});

test(verifies("C20", "more than 16 MiB are a usage error"), async () => {
  const stream = open();
  const read = readStandardInput(stream);
  const mebibyte = Buffer.alloc(1024 * 1024, "x");
  for (let count = 0; count < 17; count += 1) stream.write(mebibyte);
  await expect(read).rejects.toMatchObject({ code: "USAGE", message: expect.stringContaining("16777216") as string });
});

test("a stdin that breaks ends like one that is over", async () => {
  const stream = open();
  const read = readStandardInput(stream);
  stream.write("a");
  await new Promise(setImmediate);
  stream.destroy(new Error("gone"));
  expect(await read).toBe("a");
});
