import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { noticeCodes } from "../src/notices.ts";

test(verifies("C165", "the table of codes is that of the contract"), () => {
  const contract = readFileSync(new URL("../../../docs/formats/cli.md", import.meta.url), "utf8");
  const [, table = ""] = /\*\*C165\*\*[^|]*((?: *\|.*\n)+)/.exec(contract) ?? [];
  const rows = [...table.matchAll(/\| `([A-Z_]+)` \| .* \|/g)].map(([, code]) => code);
  expect(rows).toEqual(noticeCodes);
});
