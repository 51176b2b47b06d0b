/** Containers as CI services start them: each runs its commands with --sandbox container, or ends with 8 before its first request. */
import { chmodSync, chownSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSeccompFilter } from "../../packages/sandbox/src/hold/seccomp-filter.ts";
import { missingBubblewrap } from "../support/bubblewrap.ts";
import { describeWhere, type Missing, notRoot, unless } from "../support/describe-where.ts";
import { createTestFolder, parseStream, runProgram, toKinds } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const filter = createSeccompFilter(process.arch, false);
const filterFile = join(folders.path, "filter");
if (filter) writeFileSync(filterFile, filter);
const otherUser = 12_345;

interface Container {
  readonly wrap: (cwd: string) => readonly string[];
  readonly missing?: Missing | undefined;
  readonly userId?: number;
  readonly choice?: string;
}

const outer = ["bwrap", "--dev-bind", "/", "/", "--unshare-user"];
const withoutNamespaces = [...outer, "--disable-userns"];
const readOnly = "bwrap --ro-bind / / --dev /dev --tmpfs /tmp --unshare-user --disable-userns --bind".split(" ");
const asOther = ["setpriv", `--reuid=${otherUser}`, `--regid=${otherUser}`, "--clear-groups"];

const containers: Readonly<Record<string, Container>> = {
  "without namespaces": { wrap: () => [...withoutNamespaces, "--uid", "1000", "--gid", "1000"] },
  "with a strict seccomp profile": {
    wrap: () => ["sh", "-c", `exec "$@" 9<'${filterFile}'`, "sh", ...outer, "--seccomp", "9"],
    missing: unless(filter !== undefined, `there is no filter of system calls for ${process.arch}`),
  },
  "with a read-only root": {
    wrap: (cwd) => [...readOnly, join(cwd, ".."), join(cwd, "..")],
    choice: "container=root",
  },
  "as another user": { wrap: () => [...asOther, ...withoutNamespaces], missing: notRoot, userId: otherUser },
  "as root": { wrap: () => [...withoutNamespaces, "--uid", "0", "--gid", "0"], choice: "container=root" },
};

for (const [title, { wrap, missing, userId, choice = "container" }] of Object.entries(containers)) {
  describeWhere(`a container ${title}`, missing ?? missingBubblewrap, () => {
    /** Runs a command line in it, in a folder where a scripted model runs the tests. */
    const run = async (...words: readonly string[]) => {
      const call = { tool: "run_terminal_cmd", arguments: { command: "sh test.sh" } };
      const turns = [{ events: [{ call }] }, { events: [{ text: "Done." }] }];
      const files = { "s.json": JSON.stringify({ turns }), "test.sh": "echo tested > result\n" };
      const parent = folders.newFolder({ "project/s.json": files["s.json"], "project/test.sh": files["test.sh"] });
      const [cwd, home] = [join(parent, "project"), join(parent, "home")];
      if (userId !== undefined) {
        chmodSync(folders.path, 0o755);
        for (const path of [parent, cwd, ...readdirSync(cwd).map((name) => join(cwd, name))])
          chownSync(path, userId, userId);
      }
      const { code, stdout, stderr } = await runProgram(words, { cwd, home, wrapper: wrap(cwd) });
      return { code, stdout, stderr, hasTested: existsSync(join(cwd, "result")) };
    };
    const prompt = ["-p", "--model", "scripted:s.json", "go"];

    test(verifies(["S-254", "C180"], "runs its tests with --sandbox container"), async () => {
      const { code, stdout, hasTested } = await run(...prompt, "--strict", "--sandbox", choice);
      expect([code, hasTested]).toEqual([0, true]);
      expect(parseStream(stdout)[0]).toMatchObject({ sandbox: "container" });
    });

    test(
      verifies(["S-31", "C180"], "ends with 8 before the first request otherwise, and doctor shows what to do"),
      async () => {
        const { code, stdout, hasTested } = await run(...prompt, "--strict");
        const lines = parseStream(stdout);
        expect([code, toKinds(lines), hasTested]).toEqual([8, ["system/init", "user", "result/error"], false]);
        expect(lines.at(-1)).toMatchObject({ error: { code: "SANDBOX_UNAVAILABLE" } });
        const doctor = await run("doctor", "--model", "offline");
        expect(doctor.stdout).toMatch(
          /^fail {2}sandbox {8}no sandbox works here \(.*\)\n {21}[^\n]+--sandbox container/m,
        );
        expect(doctor.code).toBe(1);
      },
    );
  });
}
