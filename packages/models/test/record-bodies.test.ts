/** The bytes of a provider's answers in files. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createModelServer, type ModelAnswer } from "../../../test/support/model-server.ts";
import { verifies } from "../../../test/support/verifies.ts";
import * as wire from "../../agent/src/assemble/wire-models.ts";
import type { SheafError } from "@sheaf/base/errors";
import { createFallbackModel } from "../src/fallback.ts";
import { recordBodies } from "../src/record-bodies.ts";
import type { BodyTap } from "../src/provider.ts";
import { canaryKey, createLiveSetup, createRequest, readOutcome, shortAnswers } from "./live/live-setup.ts";

const whole = shortAnswers["openai-chat"].join("");

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sheaf-bodies-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function openModel(...answers: readonly ModelAnswer[]) {
  const server = await createModelServer(...answers);
  onTestFinished(() => server.close());
  return createLiveSetup("openai-chat", server.url).model;
}

const failToEnd = (reason: SheafError): void => {
  throw reason;
};

test(
  verifies("C164", "each answer has its own file, byte for byte and for its owner alone, also a broken one"),
  async () => {
    const file = join(createFolder(), "answer");
    const [first = "", ...rest] = shortAnswers["openai-chat"];
    const model = await openModel(
      { chunks: [first], after: "reset" },
      { chunks: [first, ...rest] },
      { status: 400, chunks: ["{}"] },
    );
    const recorded = recordBodies(model, file, failToEnd);
    expect(statSync(file).size).toBe(0);
    expect((await readOutcome(recorded)).text).toBe("Hello");
    expect((await readOutcome(recorded)).error?.code).toBeDefined();
    expect(readFileSync(file, "utf8")).toBe(first);
    expect(readFileSync(`${file}.2`, "utf8")).toBe(whole);
    expect(statSync(`${file}.2`).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(file, ".."))).toEqual(["answer", "answer.2"]);
  },
);

test(verifies(["C164", "S-42"], "a key that the server repeats is not kept"), async () => {
  const file = join(createFolder(), "answer");
  const echo = whole.replace("Hel", `my ${canaryKey}`);
  const recorded = recordBodies(await openModel({ chunks: [echo.slice(0, 90), echo.slice(90)] }), file, failToEnd);
  await readOutcome(recorded);
  expect(readFileSync(file, "utf8")).toBe(whole.replace("Hel", `my ${"x".repeat(canaryKey.length)}`));
});

test(verifies("C164", "no file is overwritten, and answers at the same time do not mix"), async () => {
  const file = join(createFolder(), "answer");
  writeFileSync(file, "mine");
  writeFileSync(`${file}.3`, "mine");
  const model = recordBodies(await openModel({ chunks: shortAnswers["openai-chat"], pauseMs: 1 }), file, failToEnd);
  await Promise.all([1, 2, 3].map(() => readOutcome(model)));
  expect([file, `${file}.3`].map((name) => readFileSync(name, "utf8"))).toEqual(["mine", "mine"]);
  for (const name of [2, 4, 5]) expect(readFileSync(`${file}.${name}`, "utf8")).toBe(whole);
});

test(verifies("C164", "models that answer in place of others are recorded, too"), async () => {
  const file = join(createFolder(), "answer");
  const refused = await openModel({ status: 404, chunks: ["{}"] });
  const model = createFallbackModel(refused, [{ model: await openModel({ chunks: [whole] }) }]);
  await readOutcome(recordBodies(model, file, failToEnd).forRun!());
  expect(readFileSync(file, "utf8")).toBe(whole);
});

test("a recording of the run gets the same bytes", async () => {
  const seen: Uint8Array[] = [];
  const tap: BodyTap = { begin: () => undefined, push: (bytes) => void seen.push(bytes) };
  const recorded = recordBodies(await openModel({ chunks: [whole] }), join(createFolder(), "answer"), failToEnd);
  await readOutcome(recorded, createRequest({ tap }));
  expect(Buffer.concat(seen).toString()).toBe(whole);
});

test(verifies("C164", "a name that cannot be a file is a usage error before any request"), async () => {
  const folder = createFolder();
  mkdirSync(join(folder, "folder"));
  symlinkSync(join(folder, "nowhere/file"), join(folder, "link"));
  const model = await openModel({ chunks: [whole] });
  const names = ["", "folder", "folder/", "no/such/folder", "link", "a\0b"].map((name) => name && join(folder, name));
  for (const name of [...names, "/dev/null"]) {
    expect(() => recordBodies(model, name, failToEnd)).toThrow(
      expect.objectContaining({
        code: "USAGE",
        message: expect.stringMatching(/^--record-body cannot write to ".*" \(.+\): name another file$/) as string,
      }) as Error,
    );
  }
  expect(readdirSync(folder).toSorted()).toEqual(["folder", "link"]);
});

test(verifies("C164", "an answer that cannot be written ends the run with the reason"), async () => {
  const folder = createFolder();
  const ended = new AbortController();
  const recorded = recordBodies(await openModel({ chunks: [whole] }), join(folder, "answer"), (reason) =>
    ended.abort(reason),
  );
  await readOutcome(recorded);
  rmSync(folder, { recursive: true });
  await readOutcome(recorded, createRequest(), ended.signal);
  mkdirSync(folder);
  expect(ended.signal.reason).toMatchObject({ code: "USAGE", message: expect.stringContaining("(ENOENT)") as string });
});

test(verifies("C164", "a model without bytes is a usage error that names it"), async () => {
  const model = await wire.createModels({ kind: "offline" }, [], new Map());
  const order = { file: join(createFolder(), "answer"), abort: failToEnd };
  await expect(wire.recordBodies(model, { kind: "offline" }, order)).rejects.toThrow(
    expect.objectContaining({ code: "USAGE", message: expect.stringContaining(model.name) as string }) as Error,
  );
  expect(await wire.recordBodies(model, { kind: "offline" }, { ...order, file: undefined })).toBe(model);
});
