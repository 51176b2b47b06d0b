import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { toDocumentId } from "../src/document-ids.ts";

test(verifies("N9", "ids have at least three digits"), () => {
  expect([1, 42, 999, 1000, 12_345].map(toDocumentId)).toEqual([
    "doc_001",
    "doc_042",
    "doc_999",
    "doc_1000",
    "doc_12345",
  ]);
});
