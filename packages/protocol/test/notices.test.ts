import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { noticeCodes } from "../src/notices.ts";
import { readNotices } from "../src/read-notices.ts";

test(verifies("C165", "the table of codes is that of the contract"), () => {
  const contract = readFileSync(new URL("../../../docs/formats/cli.md", import.meta.url), "utf8");
  const [, table = ""] = /\*\*C165\*\*[^|]*((?: *\|.*\n)+)/.exec(contract) ?? [];
  const rows = [...table.matchAll(/\| `([A-Z_]+)` \| .* \|/g)].map(([, code]) => code);
  expect(rows).toEqual(noticeCodes);
});

test(verifies("C165", "a sentence in a log that is older than the codes is a note"), () => {
  const end = { type: "run_end", reason: "end_turn", notices: ["a branch"] } as object;
  expect(readNotices(end as Parameters<typeof readNotices>[0])).toEqual([{ code: "NOTE", message: "a branch" }]);
});
