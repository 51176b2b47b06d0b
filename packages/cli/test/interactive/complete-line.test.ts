import { expect, test } from "vitest";
import { completeLine } from "../../src/interactive/complete-line.ts";
import { createTestFolder } from "../../../../test/support/sheaf.ts";
import { verifies } from "../../../../test/support/verifies.ts";

const folders = createTestFolder();

test(verifies("C63", "@ completes paths by any part, without what ignore rules leave out"), async () => {
  const workspace = folders.newFolder({
    ".gitignore": "*.log\nout/\n",
    ".sheafignore": "private.ts\n",
    "src/parser.ts": "",
    "src/deep/Parse-line.ts": "",
    "src/private.ts": "",
    "out/parser.js": "",
    "parser.log": "",
    "notes/old-parser.md": "",
  });
  const complete = async (before: string) => completeLine(before, workspace);
  expect(await complete("fix @pars")).toEqual({
    start: 4,
    candidates: ["@src/parser.ts", "@src/deep/Parse-line.ts", "@notes/old-parser.md"],
  });
  expect((await complete("@src/")).candidates).toEqual(["@src/deep/", "@src/parser.ts", "@src/deep/Parse-line.ts"]);
  expect((await complete("@private")).candidates).toEqual([]);
  expect((await complete("mail me@pars")).candidates).toEqual([]);
  expect(await complete("/mod")).toEqual({ start: 0, candidates: ["/mode", "/model"] });
});

test(verifies("C110", "@SERVER: completes addresses of resources of a server that runs"), async () => {
  const workspace = folders.newFolder({ "s:note.md": "" });
  const asked: string[] = [];
  const complete = async (before: string) =>
    completeLine(before, workspace, undefined, async (server) => {
      asked.push(server);
      return server === "docs" ? ["note:///a", "note:///b", "other:///c", "note:///\u001B[2J"] : [];
    });
  expect(await complete("read @docs:note")).toEqual({ start: 5, candidates: ["@docs:note:///a", "@docs:note:///b"] });
  expect((await complete("@s:no")).candidates).toEqual(["@s:note.md"]);
  await complete("@docs");
  expect(asked).toEqual(["docs", "s"]);
});
