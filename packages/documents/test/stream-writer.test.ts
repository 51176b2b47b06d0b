import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { createStreamWriter } from "../src/stream-writer.ts";

test(verifies("N9", "ids of documents have at least three digits"), () => {
  const writer = createStreamWriter();
  const ids = Array.from({ length: 1000 }, () => writer.startDocument("text", {}));
  expect([ids[0], ids[41], ids[998], ids[999]]).toEqual(["doc_001", "doc_042", "doc_999", "doc_1000"]);
});
