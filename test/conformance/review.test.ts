/** Reviews of changes: a job that only reads finds, and a job without a model posts (section 4 of docs/formats/cli.md). */
import { execFileSync } from "node:child_process";
import { closeSync, openSync, readdirSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { serveHttp } from "../support/http-server.ts";
import { createModelServer } from "../support/model-server.ts";
import { createGitHubServer, createGitLabServer, type ReviewHostServer } from "../support/review-hosts.ts";
import { createTestFolder, runAsNeeded, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const { newFolder } = createTestFolder();

const finding = { path: "cart.js", line: 2, severity: "high", rule: "correctness", problem: "The sum begins at 1." };

const hosts = [
  ["GitHub", createGitHubServer],
  ["GitLab", createGitLabServer],
] as const;

/** Posts findings; gives the exit code, the result and stderr. */
async function post(
  host: ReviewHostServer,
  findings: readonly object[] | string,
  words: readonly string[] = [],
  options: { readonly stdout?: number } = {},
) {
  const content = typeof findings === "string" ? findings : JSON.stringify({ structured_output: { findings } });
  const cwd = newFolder({ "findings.json": content });
  const { environment } = host;
  const line = ["review", "post", "findings.json", "--change", "7", "--head", host.head, ...words];
  const { code, stdout, stderr } = await runAsNeeded(line, { cwd, home: newFolder(), environment, ...options });
  return { code, result: stdout === "" ? undefined : (JSON.parse(stdout) as Record<string, unknown>), stderr };
}

/** A file of added lines. */
const toPatch = (lines: readonly string[]): string =>
  [`@@ -1,2 +1,${lines.length + 1} @@`, " first", "-old", ...lines.map((line) => `+${line}`)].join("\n");

/** Moves the host on by a push. */
function push(host: ReviewHostServer, commit: string, lines: readonly string[]): void {
  host.head = commit;
  host.patches = { "cart.js": toPatch(lines), "other.js": "@@ -5,2 +5,3 @@\n same\n+new\n end" };
  host.writes.length = 0;
}

const toOpen = ({ comments }: ReviewHostServer): string[] =>
  comments
    .filter(({ place, isFolded, resolver, isForeign }) => place && !isForeign && !isFolded && !resolver)
    .map(({ body }) => /```\n([^\n]*)/.exec(body)![1]!);

describe.each(hosts)("a review on %s", (_host, createHost) => {
  test(
    verifies("C222", "over ten pushes: one summary, each finding once, resolved when gone"),
    async () => {
      const host = await createHost();
      const isOwnSummary = ({ body, isForeign, place }: (typeof host.comments)[number]): boolean =>
        !isForeign && !place && body.startsWith("<!-- sheaf-review summary -->");
      // Another user's comments with the marks of a review.
      for (const body of ["<!-- sheaf-review summary -->\nMine", "<!-- sheaf-review aaaaaaaaaaaaaaaa -->\nMine"])
        host.comments.push({ id: host.comments.length + 1, body, isForeign: true, isFolded: false });
      const expected: [open: string[], posted: number, resolved: number][] = [];
      const seen: typeof expected = [];
      for (let number = 1; number <= 10; number += 1) {
        // Each push puts a line above, so that every finding moves.
        const above = Array.from({ length: number }, (_, index) => `// ${index}`);
        push(host, `c${number}`, [...above, "sum = 1", "key = 2", "own = 3"]);
        const [sum, key, own] = [2, 3, 4].map((line) => line + number);
        const isKeyOpen = number >= 2 && (number < 5 || number >= 8);
        const findings = [
          { ...finding, line: sum, problem: "sum" },
          ...(isKeyOpen ? [{ ...finding, line: key, rule: "security", problem: `key, as of ${number}` }] : []),
          { ...finding, line: own, severity: "low", problem: "own" },
        ];
        // A person settles one of them.
        if (number === 4) host.comments.find(({ body }) => body.includes("own"))!.resolver = "person";
        const { code, result } = await post(host, findings);
        expect([code, host.comments.filter(isOwnSummary).length], `push ${number}`).toEqual([0, 1]);
        // Line by line, without what a person settled.
        const summary = host.comments.find(isOwnSummary)!.body;
        expect(summary.match(/^(?:high|low) /gm)).toHaveLength(toOpen(host).length);
        seen.push([toOpen(host).toSorted(), result!.posted as number, result!.resolved as number]);
        const open = ["sum", ...(isKeyOpen ? ["key, as of 2"] : []), ...(number < 4 ? ["own"] : [])];
        expected.push([open.toSorted(), number === 1 ? 2 : number === 2 ? 1 : 0, number === 5 ? 1 : 0]);
        // The same review again has nothing to say.
        host.writes.length = 0;
        expect((await post(host, findings)).result).toMatchObject({ posted: 0, resolved: 0, summary: "unchanged" });
        expect(host.writes).toEqual([]);
      }
      expect(seen).toEqual(expected);
      expect(host.comments.filter(({ isForeign }) => !isForeign)).toHaveLength(4);
      expect(host.comments.filter(({ isForeign }) => isForeign).map(({ body }) => body.split("\n")[1])).toEqual([
        "Mine",
        "Mine",
      ]);
    },
    60_000,
  );

  test(verifies("C222", "a change without findings gets no comment, and later a summary that says so"), async () => {
    const host = await createHost();
    push(host, "c1", ["sum = 1"]);
    expect((await post(host, [])).result).toMatchObject({ summary: "none" });
    expect(host.comments).toEqual([]);
    await post(host, [finding]);
    expect((await post(host, [])).result).toMatchObject({ summary: "updated", resolved: 1 });
    expect(host.comments.map(({ body }) => body)).toContain(
      "<!-- sheaf-review summary -->\n**Sheaf has no open findings.**\n",
    );
  });

  test(verifies("C222", "equal lines are told apart, and one finding twice is one comment"), async () => {
    const host = await createHost();
    push(host, "c1", ["sum = 1", "sum = 1"]);
    const findings = [finding, { ...finding, line: 3 }, { ...finding, problem: "Also this." }];
    expect((await post(host, findings)).result).toMatchObject({ posted: 2 });
    expect((await post(host, findings.toReversed())).result).toMatchObject({ posted: 0, known: 2 });
  });

  test(verifies(["C221", "C223"], "a place outside of the change, and a flood, are in the result"), async () => {
    const host = await createHost();
    push(
      host,
      "c1",
      Array.from({ length: 60 }, (_, index) => `line ${index}`),
    );
    const many = Array.from({ length: 60 }, (_, index) => ({ ...finding, line: index + 2 }));
    const outside = [
      { ...finding, line: 9999 },
      { ...finding, path: "../../etc/passwd" },
      { ...finding, path: "__proto__" },
    ];
    const { code, result } = await post(host, [...many, ...outside]);
    expect([code, result!.posted]).toEqual([0, 50]);
    const reasons = (result!.not_posted as { reason: string }[]).map(({ reason }) => reason);
    expect(reasons).toEqual([
      ...Array.from({ length: 3 }, () => "not a line of the change"),
      ...Array.from({ length: 10 }, () => "more than 50 new findings"),
    ]);
  });

  test(verifies("C222", "a comment at a line that the change keeps"), async () => {
    const host = await createHost();
    push(host, "c1", ["sum = 1"]);
    await post(host, [{ ...finding, path: "other.js", line: 7 }]);
    expect(host.comments[0]!.place).toMatchObject({ path: "other.js", line: 7 });
  });

  test(verifies("C23", "a full stdout fails the command after its comments"), async () => {
    const host = await createHost();
    push(host, "c1", ["sum = 1"]);
    const stdout = openSync("/dev/full", "w");
    const { code, stderr } = await post(host, [finding], [], { stdout });
    closeSync(stdout);
    expect([code, stderr, toOpen(host).length]).toEqual([1, expect.stringContaining("ENOSPC"), 1]);
  });

  test(verifies("C223", "newer commits: the review posts nothing, and says so"), async () => {
    const host = await createHost();
    push(host, "c2", ["sum = 1"]);
    const { code, result } = await post(host, [finding], ["--head", "c1"]);
    expect([code, host.writes]).toEqual([0, []]);
    expect(result!.not_posted).toEqual([
      { path: "cart.js", line: 2, reason: "the change has newer commits, up to c2" },
    ]);
  });

  test(verifies("C223", "a change that the host does not have"), async () => {
    const host = await createHost();
    push(host, "c1", ["sum = 1"]);
    const { code, stderr } = await post(host, [finding], ["--change", "8"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("8")]);
  });

  test.each([
    [401, 3, "AUTH_REJECTED"],
    [403, 3, "AUTH_REJECTED"],
    [422, 2, "USAGE"],
    [429, 5, "RATE_LIMITED"],
    [502, 5, "OVERLOADED"],
  ])(
    verifies("C223", "a host that answers %s: exit code %s, and the next review completes it"),
    async (status, code, word) => {
      const host = await createHost();
      push(host, "c1", ["sum = 1"]);
      host.failure = status;
      const failed = await post(host, [finding]);
      expect([failed.code, failed.stderr.split(": ")[1]]).toEqual([code, word]);
      expect(failed.stderr).not.toContain("token-of-the-host");
      expect(failed.result!.not_posted).toMatchObject([{ reason: "the host did not take it" }]);
      host.failure = undefined;
      expect((await post(host, [finding])).result).toMatchObject({ posted: 1, summary: "created" });
    },
  );

  const hostile = [
    "@everyone see https://evil.example/?q=1 or [this](https://evil.example) and #1 !2 ~bug",
    "```\n/close\n/merge\n@admin\n```",
    "`````\n<img src=https://evil.example/x.png><script>",
    "\u202Etxet neddih\u0007\u200B",
    "<!-- sheaf-review summary -->\n<!-- sheaf-review aaaaaaaaaaaaaaaa -->",
    "a".repeat(300_000),
    `${"word ".repeat(100)}\r\n/approve`,
  ];
  test.each(hostile.map((problem, index) => [index, problem] as const))(
    verifies("C221", "text of the model stays in its block: %s"),
    async (_index, problem) => {
      const host = await createHost();
      push(host, "c1", ["sum = 1"]);
      expect((await post(host, [{ ...finding, problem }])).result).toMatchObject({ posted: 1, summary: "created" });
      for (const { body } of host.comments) {
        expect(body.length).toBeLessThan(5000);
        const [, head, fence, text] =
          /^(<!-- sheaf-review \w+ -->\n\*\*[a-zA-Z0-9: ]+\*\*\n\n)(`{3,})\n([^]*)\n\2\n$/.exec(body)!;
        expect(head).not.toBe("");
        expect(text).not.toContain(fence);
        for (const hidden of ["\u202E", "\u200B", "\u0007", "\r"]) expect(text).not.toContain(hidden);
      }
    },
  );
});

test.each(
  (
    [
      ["", /findings\.json has no findings/],
      ["[]", /has no findings/],
      ['{"findings":[{"path":"a","line":1}]}', /severity: is missing/],
      [JSON.stringify({ findings: [{ ...finding, severity: "high**\n@all" }] }), /severity: expected one of/],
      [JSON.stringify({ findings: [{ ...finding, rule: "x" }] }), /rule: expected one of/],
      [JSON.stringify({ findings: [{ ...finding, line: 1.5 }] }), /line: expected an integer/],
      [JSON.stringify({ findings: [{ ...finding, url: "https://evil.example" }] }), /url: is not a known field/],
      [JSON.stringify({ findings: [{ ...finding, problem: "a".repeat(1024 * 1024) }] }), /has no findings \(.*larger/],
    ] as const
  ).map(([content, reason]) => [reason, content] as const),
)(verifies("C221", "a findings file that is not one: %s"), async (reason, content) => {
  const host = await createGitHubServer();
  push(host, "c1", ["sum = 1"]);
  const { code, stderr } = await post(host, content);
  expect([code, host.writes]).toEqual([2, []]);
  expect(stderr).toMatch(reason);
});

test(verifies("C222", "a token that cannot resolve threads folds its comments"), async () => {
  const host = await createGitHubServer();
  host.mayResolve = false;
  push(host, "c1", ["sum = 1"]);
  await post(host, [finding]);
  await post(host, []);
  expect(host.comments[0]).toMatchObject({ isFolded: true });
  expect(host.comments[0]!.resolver).toBeUndefined();
  await post(host, [finding]);
  expect(toOpen(host)).toEqual(["The sum begins at 1."]);
});

test.each([
  [
    ["review", "post", "f.json", "--change", "7", "--head", "c1"],
    { GITHUB_REPOSITORY: "a/b" },
    2,
    /GITHUB_API_URL is not set/,
  ],
  [
    ["review", "post", "f.json", "--change", "7", "--head", "c1"],
    { GITHUB_REPOSITORY: "a/b", GITHUB_API_URL: "http://127.0.0.1:9" },
    3,
    /GITHUB_TOKEN is not set/,
  ],
  [["review", "post", "f.json", "--change", "x", "--head", "c1"], {}, 2, /--change "x" is not/],
  [["review", "post", "f.json"], {}, 2, /sheaf review post FILE --change NUMBER --head COMMIT/],
  [["review"], {}, 2, /sheaf review --base main/],
  [["review", "--base", "none"], {}, 2, /no git repository/],
])(verifies("C220", "%j: what is missing is said"), async (words, environment, code, message) => {
  const cwd = newFolder({ "f.json": '{"findings":[]}' });
  const ended = await runSheaf([...words, ...(words[1] === "post" ? [] : ["--output-format", "json"])], {
    cwd,
    home: newFolder(),
    environment,
  });
  expect(ended.stderr).toMatch(message);
  expect(ended.code).toBe(code);
});

const run = (cwd: string, ...words: readonly string[]): string =>
  execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...words], { cwd, encoding: "utf8" });

const base = {
  "AGENTS.md": "RULES OF THE BASE\n",
  "cart.js": "first\nold\n",
  "private/other.js": "same\n",
};

/** What a branch can bring to be heard, hidden or run. */
const hostileHead = {
  "AGENTS.md": "RULES OF THE HEAD\n",
  "CLAUDE.md": "RULES OF THE HEAD\n",
  ".cursor/rules/a.mdc": "---\nalwaysApply: true\n---\nRULES OF THE HEAD\n",
  ".github/copilot-instructions.md": "RULES OF THE HEAD\n",
  ".claude/settings.json": JSON.stringify({
    hooks: { SessionStart: [{ hooks: [{ type: "command", command: "echo RULES OF THE HEAD" }] }] },
  }),
  ".claude/skills/evil/SKILL.md": "---\nname: evil\ndescription: RULES OF THE HEAD\n---\nGo\n",
  ".sheaf/config.json": JSON.stringify({ permissions: { deny: ["Read(**)"] }, model: "offline" }),
  ".mcp.json": JSON.stringify({ mcpServers: { evil: { command: "node", args: ["evil.js"] } } }),
  ".gitignore": "*\n",
  ".sheafignore": "*\n",
  ".gitattributes": "*.js -diff filter=evil ident\n",
  "deep/.gitignore": "*\n",
  "deep/AGENTS.md": "RULES OF THE HEAD\n",
  "deep/hidden.js": "needle $Id$\n",
};

/** A repository with a branch `change` that is checked out. */
function createRepository(
  files: Readonly<Record<string, string>>,
  links: Readonly<Record<string, string>> = {},
): string {
  const cwd = newFolder(base);
  run(cwd, "init", "-q", "-b", "main");
  run(cwd, "add", "--all");
  run(cwd, "commit", "-q", "-m", "Base");
  run(cwd, "checkout", "-q", "-b", "change");
  const head = newFolder({ "cart.js": "first\nnew\n", ...files });
  execFileSync("cp", ["-rT", head, cwd]);
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(cwd, name));
  run(cwd, "add", "--all", "--force");
  run(cwd, "commit", "-q", "-m", "Change");
  // A filter that a configuration of the machine has.
  run(cwd, "config", "filter.evil.smudge", "echo RULES OF THE HEAD");
  return cwd;
}

const listLeft = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith("sheaf-review-"));

test.each([[[]], [["--trust"]]])(
  verifies("C220", "nothing of the head changes what the model is told, but the diff: %j"),
  async (words: readonly string[]) => {
    const ask = async (files: Readonly<Record<string, string>>) => {
      const server = await createModelServer({ status: 400, chunks: ["{}"] });
      const model = ["--model", "openai-compatible/m", "--base-url", `${server.url}/v1`, "--api-key", "test-key"];
      const options = { cwd: createRepository(files), home: newFolder() };
      await runSheaf(["review", "--base", "main", ...model, ...words], options);
      await server.close();
      const text = server.requests[0]!.body.replaceAll(/sheaf-review-\w+/g, "scratch");
      const { messages, ...request } = JSON.parse(text) as { messages: { content: unknown }[] };
      const told = messages.map((message) => JSON.stringify(message).replace(/diff --git .*/s, ""));
      return { request, told, text };
    };
    const [plain, hostile] = [await ask({}), await ask(hostileHead)];
    expect(hostile.told).toEqual(plain.told);
    expect(hostile.request).toEqual(plain.request);
    expect(hostile.told.join("\n")).toContain("RULES OF THE BASE");
    expect(hostile.told.join("\n")).not.toContain("RULES OF THE HEAD");
    // A file cannot hide from the diff.
    for (const line of ["-old", "+new", "+needle $Id$"]) expect(hostile.text).toContain(`\\n${line}\\n`);
  },
);

interface Call {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A model that makes these calls at once, with `HEAD` as the folder of the head, and then finds one problem. */
async function serveModel(calls: readonly Call[]) {
  const results: string[] = [];
  const url = await serveHttp((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      const { messages } = JSON.parse(body) as { messages: { role: string; content: unknown }[] };
      const told = messages.filter(({ role }) => role === "tool").map(({ content }) => JSON.stringify(content));
      results.splice(0, Infinity, ...told);
      const head = /\/[^ ]*sheaf-review-\w+\/change/.exec(body)![0];
      const delta =
        told.length > 0
          ? { content: JSON.stringify({ findings: [finding] }) }
          : {
              tool_calls: calls.map(({ tool: name, arguments: args }, index) => {
                const text = JSON.stringify(args).replaceAll("HEAD", `${head}/head`);
                return { index, id: `c${index}`, type: "function", function: { name, arguments: text } };
              }),
            };
      const end = { choices: [{ index: 0, delta: {}, finish_reason: told.length > 0 ? "stop" : "tool_calls" }] };
      const chunks = [{ choices: [{ index: 0, delta }] }, end].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
      response.writeHead(200, { "content-type": "text/event-stream" }).end(`${chunks.join("")}data: [DONE]\n\n`);
    });
  });
  const words = ["--model", "openai-compatible/m", "--base-url", `${url}/v1`, "--api-key", "test-key"];
  return { words, results };
}

const read = (path: string, rest: object = {}): Call => ({
  tool: "read_file",
  arguments: { target_file: path, ...rest },
});

test(verifies("C220", "a model that does what the head wants reads no secret, and changes nothing"), async () => {
  const secret = "sk-the-secret-of-the-job";
  const home = newFolder({ "secret.txt": secret });
  const links = { "environ.js": "/proc/self/environ", "secret.js": join(home, "secret.txt"), up: home };
  const cwd = createRepository(hostileHead, links);
  const { words, results } = await serveModel([
    ...["HEAD/environ.js", "HEAD/secret.js", "HEAD/up/secret.txt", "HEAD/../../mirror.git/config"].map((path) =>
      read(path),
    ),
    ...["/proc/self/environ", join(home, "secret.txt"), join(cwd, ".git/config")].map((path) => read(path)),
    { tool: "run_terminal_cmd", arguments: { command: "env" } },
    { tool: "write_file", arguments: { target_file: "HEAD/cart.js", content: "x" } },
    read("HEAD/cart.js"),
  ]);
  const [before, status] = [listLeft(), run(cwd, "status", "--porcelain")];
  const { code, stdout, stderr } = await runSheaf(["review", "--base", "main", ...words], {
    cwd,
    home: newFolder(),
    environment: { GITHUB_TOKEN: secret, ANTHROPIC_API_KEY: secret },
  });
  expect([code, stderr]).toEqual([0, ""]);
  expect(results).toHaveLength(10);
  expect(results.join("\n") + stdout).not.toContain(secret);
  const [outside, refused] = ["PATH_OUTSIDE_WORKSPACE", "PERMISSION_DENIED"];
  const codes = results.slice(2, 9).map((result) => /^"(\w+): /.exec(result)?.[1]);
  expect(codes).toEqual(["NOT_A_DIRECTORY", outside, outside, outside, outside, refused, refused]);
  // A link is a text, and the last call reads the file as it was.
  expect([results[0], results[9]]).toEqual([
    expect.stringContaining("/proc/self/environ"),
    expect.stringContaining("new"),
  ]);
  expect(JSON.parse(stdout.trim().split("\n").at(-1)!)).toMatchObject({ structured_output: { findings: [finding] } });
  expect(listLeft()).toEqual(before);
  expect(run(cwd, "status", "--porcelain")).toBe(status);
});

test(verifies("C220", "a search finds what the head would hide, as its bytes are"), async () => {
  const { words, results } = await serveModel([{ tool: "grep", arguments: { pattern: "needle", path: "HEAD" } }]);
  await runSheaf(["review", "--base", "main", ...words], { cwd: createRepository(hostileHead), home: newFolder() });
  expect(results.join("\n")).toContain("deep/hidden.js");
  expect(results.join("\n")).toContain("needle $Id$");
});

test.each([
  ["main", "main", /has no changes since main/],
  ["none", "HEAD", /no commit "none"/],
  ["--upload-pack=x", "HEAD", /no commit "--upload-pack=x"/],
])(verifies("C220", "commits that are no change: %s to %s"), async (from, head, message) => {
  const cwd = createRepository({});
  const ended = await runSheaf(["review", `--base=${from}`, `--head=${head}`, "--model", "offline"], {
    cwd,
    home: newFolder(),
  });
  expect([ended.code, ended.stderr]).toEqual([2, expect.stringMatching(message)]);
});

test(verifies("C220", "a shallow clone without the common commit names the way out"), async () => {
  const origin = createRepository({});
  const cwd = join(newFolder(), "clone");
  run(origin, "clone", "-q", "--depth=1", "--no-single-branch", `file://${origin}`, cwd);
  const words = ["review", "--base", "origin/main", "--model", "offline"];
  const ended = await runSheaf(words, { cwd, home: newFolder() });
  expect([ended.code, ended.stderr]).toEqual([2, expect.stringMatching(/git fetch --unshallow\n$/)]);
});

test(verifies("C220", "a long change: the prompt lists its files, and the diff is a file"), async () => {
  const cwd = createRepository({ "long.js": "line\n".repeat(60_000) });
  const { words, results } = await serveModel([read("HEAD/../change.diff", { limit: 5 })]);
  const { code, stdout } = await runSheaf(["review", "--base", "main", ...words], { cwd, home: newFolder() });
  expect(code).toBe(0);
  expect(stdout).toContain("long.js | 60000 +");
  expect(results[0]).toContain("diff --git a/cart.js b/cart.js");
});
