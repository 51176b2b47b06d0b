/**
 * docs/start/, guide/ and reference/: every block runs, in the order of its page, with models that need no network. The
 * package of the models runs the blocks of scripted-models.md.
 *
 * | block | test |
 * |---|---|
 * | `sh` | exits with 0 and no error on stderr, and prints the `text` block after it, in which `…` is any text |
 * | `sh` with `$ADDRESS` | the same, with a server for the page |
 * | `json` | is a configuration that Sheaf accepts |
 * | `ts`, `tsx`, `js` | readme-examples.test.ts checks it |
 * | `LANGUAGE file: PATH` | the file for the commands after it |
 * | `LANGUAGE no-run: REASON` | none |
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { toDataFolder } from "@sheaf/base/paths";
import { expect, test } from "vitest";
import { describeWithProgram } from "../support/programs.ts";
import { startServerProcess } from "../support/server.ts";
import { compiledCode, createTestFolder, sheafProgram } from "../support/sheaf.ts";
import { type PageBlock, readBlocks } from "../support/shell-blocks.ts";

const root = join(import.meta.dirname, "../..");
const folders = createTestFolder();
const pages = globSync(["docs/{start,guide,reference}/*.md"], { cwd: root })
  .filter((page) => page !== "docs/reference/scripted-models.md")
  .toSorted();
const readPage = (page: string): readonly PageBlock[] => readBlocks(readFileSync(join(root, page), "utf8"));

const bin = folders.newFolder();
/** Starts Sheaf. A model that needs a key becomes the offline model, and a server ends once it listens. */
const sheaf = `#!/bin/bash
words=()
for word in "$@"; do
  last=\${words[*]: -1}
  if [[ $last == --model && $word == */* ]]; then word=offline; fi
  if [[ $last == --port ]]; then word=0; fi
  words+=("$word")
done
run() { exec '${process.execPath}' '${sheafProgram}' "\${words[@]}"; }
if [[ $1 != serve ]]; then run; fi
[[ " \${words[*]} " == *" --port "* ]] || words+=(--port 0)
exec 3< <(run)
server=$!
read -r line <&3 && kill -TERM $server
wait $server
`;
writeFileSync(join(bin, "sheaf"), sheaf, { mode: 0o755 });
// Any package of npm is the tests' own tool server.
const server = join(root, "test/support/mcp-server.ts");
writeFileSync(join(bin, "npx"), `#!/bin/sh\nexec '${process.execPath}' '${server}'\n`, { mode: 0o755 });
writeFileSync(join(bin, "node"), `#!/bin/sh\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 });

/** Commands that make what a page's reader has already, by page. */
const preparations: Readonly<Record<string, string>> = {
  "docs/guide/behind-a-proxy.md":
    "umask 077; mkdir -p ~/.config/sheaf; echo ada $(openssl rand -hex 32) > ~/.config/sheaf/tokens",
  "docs/guide/chat-api.md": "mkdir docs",
};

interface Place {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
}

interface ShellResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function runShell(script: string, { cwd, environment }: Place): Promise<ShellResult> {
  const child = spawn("bash", ["--norc", "-euo", "pipefail", "-c", script], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...environment, PATH: `${bin}:${process.env.PATH}`, ...compiledCode },
  });
  const ended = once(child, "close") as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}

/** A repository with a README, two commits and a home folder. */
async function createPlace(
  page: string,
  blocks: readonly PageBlock[],
  onEnd: (end: () => void) => void,
): Promise<Place> {
  const home = folders.newFolder({ "wordy/README.md": "# Wordy\n\nCounts words.\n" });
  const cwd = join(home, "wordy");
  const judge = join(home, "judge.json");
  const verdict = { events: [{ text: '{"verdict":"good","reason":"It is short."}' }] };
  writeFileSync(judge, JSON.stringify({ turns: [verdict], after: "repeat_last" }));
  const environment = {
    HOME: home,
    LANG: "C.UTF-8",
    SHEAF_MODEL: "offline",
    TMPDIR: folders.path,
    JUDGE: `scripted:${judge}`,
  };
  const git = [
    "git config --global user.name Ada; git config --global user.email ada@example.org",
    "git init -q -b main; git add .; git commit -qm one; echo More. >> README.md; git commit -qam two",
  ];
  const script = [...git, preparations[page] ?? ""].join("\n");
  expect(await runShell(script, { cwd, environment })).toMatchObject({ code: 0 });
  if (!blocks.some(({ source }) => source.includes("$ADDRESS"))) return { cwd, environment };
  const data = toDataFolder({ HOME: home });
  mkdirSync(data, { recursive: true });
  const args = ["--model", "offline"];
  const { address, token } = await startServerProcess({ cwd, home: data, args, onEnd });
  return { cwd, environment: { ...environment, ADDRESS: address, TOKEN: token } };
}

/** Returns what differs from the page, or "". */
async function runBlock({ source, language, label, output }: PageBlock, place: Place): Promise<string> {
  const { cwd, environment } = place;
  if (label.startsWith("file: ")) {
    const file = resolve(cwd, label.slice("file: ".length).replace("~", environment["HOME"]!));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, source);
    return "";
  }
  if (language === "json") {
    const home = folders.newFolder({ "config.json": source });
    const { code, stderr } = await runShell("sheaf config explain", {
      cwd,
      environment: { ...environment, SHEAF_HOME: home },
    });
    return code === 0 ? "" : stderr;
  }
  const model = label === "scripted" ? { SHEAF_MODEL: environment["JUDGE"]! } : {};
  const { code, stdout, stderr } = await runShell(source, { cwd, environment: { ...environment, ...model } });
  const isFailure = code !== 0 || /^(?:sheaf: [A-Z_]{3,}|bash): /m.test(stderr);
  if (isFailure) return `exit code ${code}: ${stderr}${stdout}`;
  return output === undefined || toPattern(output).test(stdout.trimEnd()) ? "" : stdout;
}

function toPattern(output: string): RegExp {
  const lines = output.trimEnd().split("\n");
  const patterns = lines.map((line) =>
    line === "…" ? "[^]*" : line.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`).replaceAll("…", ".*"),
  );
  return new RegExp(`^${patterns.join("\n")}$`);
}

/** The blocks that this file runs. */
function listChecked(page: string): readonly PageBlock[] {
  return readPage(page).filter(
    ({ language, label, isOutput }) =>
      !isOutput && !label.startsWith("no-run: ") && !["js", "ts", "tsx"].includes(language),
  );
}

const labels = /^(sh scripted|(ts|tsx|js) fragment|ts check|\w+ no-run: .{5,}|\w+ file: \S+)$/;

test("every block of a page has a test, or a label that shows why not", () => {
  const wrong = pages.flatMap((page) =>
    readPage(page).flatMap(({ language, label, isOutput, source }) => {
      if (isOutput) return [];
      const hasTest = label === "" ? ["sh", "json", "ts"].includes(language) : labels.test(`${language} ${label}`);
      return hasTest ? [] : [`${page}: ${language} ${label}: ${source.split("\n")[0]}`];
    }),
  );
  expect(wrong).toEqual([]);
});

describeWithProgram("curl", () => {
  describeWithProgram("jq", () => {
    test.concurrent.for(pages.filter((page) => listChecked(page).length > 0))(
      "%s",
      { timeout: 300_000 },
      async (page, { onTestFinished }) => {
        const blocks = listChecked(page);
        const place = await createPlace(page, blocks, onTestFinished);
        const faults: string[] = [];
        for (const block of blocks) {
          const fault = await runBlock(block, place);
          if (fault !== "") faults.push(`${block.source}\n=> ${fault}`);
        }
        expect(faults.join("\n\n")).toBe("");
      },
    );
  });
});
