import { closeSync, constants, openSync, statSync, writeSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { verifies } from "../../../../../test/support/verifies.ts";
import { createFifos, type Fifo, type Fifos } from "../../../src/guard/sandbox/fifos.ts";

describe.skipIf(process.platform !== "linux")("FIFOs without a name", () => {
  let fifos: Fifos;
  const opened: Fifo[] = [];
  afterEach(() => {
    for (const fifo of opened.splice(0)) fifo.close();
    fifos.close();
  });
  const open = (): Fifo => {
    const fifo = fifos.open()!;
    opened.push(fifo);
    return fifo;
  };
  const toInode = (fifo: Fifo): number => statSync(fifo.path).ino;

  test("are used again when nothing is in them", () => {
    fifos = createFifos();
    const first = open();
    const inode = toInode(first);
    first.close();
    expect(toInode(open())).toBe(inode);
  });

  test(
    verifies("S-30", "are not used again while something is in them: it would be the order of a later command"),
    () => {
      fifos = createFifos();
      const first = open();
      const inode = toInode(first);
      // Its number stays taken.
      const held = openSync(first.path, constants.O_RDONLY | constants.O_NONBLOCK);
      writeSync(first.writer, "set -- echo hostile\n");
      first.close();
      for (let round = 0; round < 30; round += 1) expect(toInode(open())).not.toBe(inode);
      closeSync(held);
    },
  );

  test("are not used again when something came behind their end", async () => {
    fifos = createFifos();
    const first = open();
    const inode = toInode(first);
    first.read(() => undefined);
    const held = openSync(first.path, constants.O_RDONLY | constants.O_NONBLOCK);
    first.closeWriter();
    await first.ended;
    const late = openSync(`/proc/self/fd/${held}`, constants.O_WRONLY);
    writeSync(late, "late\n");
    closeSync(late);
    first.close();
    for (let round = 0; round < 30; round += 1) expect(toInode(open())).not.toBe(inode);
    closeSync(held);
  });

  test("give all that was written, and then the end", async () => {
    fifos = createFifos();
    const fifo = open();
    let text = "";
    fifo.read((chunk) => (text += Buffer.from(chunk).toString()));
    writeSync(fifo.writer, "one\n");
    writeSync(fifo.writer, "two\n");
    fifo.closeWriter();
    await fifo.ended;
    expect(text).toBe("one\ntwo\n");
  });
});
