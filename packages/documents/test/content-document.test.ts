import { createHash } from "node:crypto";
import type { StreamEvent } from "@sheaf/protocol";
import { reduce } from "@sheaf/protocol";
import { verify } from "@sheaf/protocol/verify";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { type ContentDocument, startContentDocument } from "../src/content-document.ts";
import { createStreamWriter } from "../src/stream-writer.ts";

const mebi = 1024 * 1024;

function write(body: (document: ContentDocument) => void): StreamEvent[] {
  const writer = createStreamWriter();
  body(startContentDocument(writer, "file_edit", {}));
  const usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };
  writer.write("done", { usage });
  return writer.take();
}

function endOf(events: readonly StreamEvent[]): object {
  return events.findLast(({ event }) => event === "document_end")?.data ?? {};
}

test(verifies(["N47", "R15"], "the final content is the joined deltas, or what is given"), () => {
  const joined = write((document) => {
    document.write("Hello ");
    document.write("");
    document.write("world");
    document.end({ language: "" });
  });
  expect(joined.map(({ event }) => event)).toEqual([
    "document_start",
    "content_delta",
    "content_delta",
    "document_end",
    "done",
  ]);
  expect(endOf(joined)).toEqual({ documentId: "doc_001", finalContent: "Hello world", metadata: { language: "" } });
  const given = write((document) => {
    document.write("draft");
    document.end({}, "final");
  });
  expect(reduce(given).documents[0]?.content).toBe("final");
});

test(verifies(["N11", "N47"], "null is told by leaving out the final content, and only if nothing was shown"), () => {
  expect(endOf(write((document) => document.end({}, null)))).toEqual({ documentId: "doc_001", metadata: {} });
  expect(endOf(write((document) => document.end({})))).toMatchObject({ finalContent: "" });
  const shown = write((document) => {
    document.write("draft");
    document.end({}, null);
  });
  expect(endOf(shown)).toMatchObject({ finalContent: "draft" });
  expect(reduce(shown).documents[0]?.content).toBe("draft");
});

test("a draft is completed only if it is a beginning", () => {
  const events = write((document) => {
    document.write("ab");
    document.complete("abc");
    document.complete("xyz");
    document.end({});
  });
  expect(endOf(events)).toMatchObject({ finalContent: "abc" });
});

test(verifies("N55", "content is sent whole up to 1 MiB, above it as hash and length of the joined deltas"), () => {
  for (const extra of [0, 1]) {
    const content = "é".repeat(mebi / 2) + "x".repeat(extra);
    const events = write((document) => {
      for (let at = 0; at < content.length; at += 5000) document.write(content.slice(at, at + 5000));
      document.end({});
    });
    const whole = { finalContent: content };
    const finalContentSha256 = createHash("sha256").update(content).digest("hex");
    expect(endOf(events)).toMatchObject(
      extra === 0 ? whole : { finalContentSha256, finalContentLength: content.length },
    );
    expect("finalContent" in endOf(events)).toBe(extra === 0);
    expect(reduce(events).documents[0]?.content).toBe(content);
    expect(verify(events)).toBeUndefined();
  }
});

test(
  verifies("N55", "a large final content is told by hash when the deltas can be completed to it, else sent whole"),
  () => {
    const large = "x".repeat(mebi + 10);
    const completed = write((document) => {
      document.write("xx");
      document.end({}, large);
    });
    expect(endOf(completed)).not.toHaveProperty("finalContent");
    expect(reduce(completed).documents[0]?.content).toBe(large);
    expect(verify(completed)).toBeUndefined();
    for (const draft of ["other", "y".repeat(mebi + 10)]) {
      const changed = write((document) => {
        document.write(draft);
        document.end({}, large);
      });
      expect(reduce(changed).documents[0]?.content).toBe(large);
    }
  },
);
