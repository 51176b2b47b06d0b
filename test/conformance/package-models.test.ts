/** Models of packages that the user's configuration names: through the built program, with a package made here. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { createTestFolder, parseStream, runProgram, runSheaf, toTexts, type SheafResult } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const key = "canary-key-51b7c0de";

/** A package of the interface that plays the parts of its options, and notes what it was asked. */
const packageSource = `
import { appendFileSync } from "node:fs";
let turn = 0;
export const another = () => undefined;
export function createPlayer({ turns, file, version = "v4", ...options }) {
  return { languageModel: (modelId) => ({
    specificationVersion: version, provider: "player", modelId, supportedUrls: {},
    async doStream({ prompt, tools, abortSignal }) {
      const parts = turns[turn++] ?? [];
      appendFileSync(file, JSON.stringify({ modelId, prompt, tools: tools?.length, key: options.apiKey, options }) + "\\n");
      if (parts.throw) throw Object.assign(new Error(parts.throw.message), parts.throw);
      return { stream: new ReadableStream({
        async start(controller) {
          for (const part of parts) {
            if (part === "hang") return;
            if (part === "fail") return controller.error(Object.assign(new Error("gone"), { cause: { code: "ECONNRESET" } }));
            controller.enqueue(part);
            await new Promise((resolve) => setImmediate(resolve));
          }
          controller.close();
        },
      }) };
    },
  }) };
}
`;

const finish = (unified = "stop") => ({
  type: "finish",
  finishReason: { unified, raw: unified.toUpperCase() },
  usage: {
    inputTokens: { total: 30, noCache: 10, cacheRead: 20, cacheWrite: 0 },
    outputTokens: { total: 7, text: 5, reasoning: 2 },
  },
});
const text = (...deltas: string[]) => [
  { type: "text-start", id: "t" },
  ...deltas.map((delta) => ({ type: "text-delta", id: "t", delta })),
  { type: "text-end", id: "t" },
];

interface Asked {
  readonly modelId: string;
  readonly key?: string;
  readonly tools: number;
  readonly options: Record<string, unknown>;
  readonly prompt: readonly { readonly role: string; readonly content: readonly Record<string, unknown>[] }[];
}

type Played = SheafResult & { readonly asked: readonly Asked[]; readonly cwd: string; readonly home: string };

function writeTree(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

/** Runs a prompt against a package that plays `turns`. */
async function play(
  turns: readonly unknown[],
  { settings = {}, args = [] as readonly string[], limits = {} } = {},
): Promise<Played> {
  const cwd = folders.newFolder({ "note.txt": "one\n" });
  const home = folders.newFolder();
  const file = join(home, "asked.ndjson");
  const provider = { package: "@made/player", options: { turns, file }, apiKeyEnv: "PLAYER_KEY", ...settings };
  writeTree(home, {
    "node_modules/@made/player/package.json":
      '{"name":"@made/player","type":"module","exports":{"import":"./index.js"}}',
    "node_modules/@made/player/index.js": packageSource,
    "config.json": JSON.stringify({ providers: { player: provider }, limits: { maxTries: 2, ...limits } }),
    "asked.ndjson": "",
  });
  const result = await runSheaf(["-p", "--model", "player/large", ...args, "go"], {
    cwd,
    home,
    environment: { PLAYER_KEY: key },
  });
  return { ...result, cwd, home, asked: readAsked(file) };
}

function readAsked(file: string): Asked[] {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.filter(Boolean).map((line) => JSON.parse(line) as Asked);
}

const readCall = (id: string, file: string) => [
  { type: "tool-input-start", id, toolName: "read_file" },
  { type: "tool-input-delta", id, delta: '{"target_' },
  { type: "tool-input-delta", id, delta: `file":"${file}"}` },
  { type: "tool-input-end", id },
  {
    type: "tool-call",
    toolCallId: id,
    toolName: "read_file",
    input: `{"target_file":"${file}"}`,
    providerMetadata: { player: { mark: `of ${id}` } },
  },
];

describe("a model of a package", () => {
  test(
    verifies(["C5", "C7", "C8", "C10", "S-42"], "streams text, reasoning and calls; the key comes by option"),
    async () => {
      const reasoning = [
        { type: "reasoning-start", id: "r", providerMetadata: { player: { id: "r1" } } },
        { type: "reasoning-delta", id: "r", delta: "Let me " },
        { type: "reasoning-delta", id: "r", delta: "look." },
        { type: "reasoning-end", id: "r", providerMetadata: { player: { signature: "sealed" } } },
      ];
      const turns = [
        [
          { type: "stream-start", warnings: [] },
          ...reasoning,
          ...text("I ", "look."),
          ...readCall("a", "note.txt"),
          // Whole, without pieces before it; and one that the provider ran itself.
          { type: "tool-call", toolCallId: "b", toolName: "read_file", input: '{"target_file":"none.txt"}' },
          { type: "tool-call", toolCallId: "c", toolName: "web_search", input: "{}", providerExecuted: true },
          finish("tool-calls"),
        ],
        [...text(" Done."), finish()],
      ];
      const { code, stdout, stderr, asked } = await play(turns, { args: ["--include-thinking"] });
      expect([code, stderr]).toEqual([0, ""]);
      const lines = parseStream(stdout);
      expect(lines[0]).toMatchObject({ apiKeySource: "env", model: "player/large" });
      expect(toTexts(lines).join("")).toBe("I look. Done.");
      const usage = { inputTokens: 60, outputTokens: 14, cacheReadTokens: 40 };
      expect(lines.at(-1)).toMatchObject({ result: "I look. Done.", usage });
      expect(lines.filter(({ subtype }) => subtype === "started")).toHaveLength(2);
      expect(lines.filter(({ type }) => type === "thinking").map(({ text: thought }) => thought)).toEqual([
        "Let me ",
        "look.",
        undefined,
      ]);

      expect(asked).toMatchObject([{ modelId: "large", key }, { modelId: "large" }]);
      expect(asked[0]!.tools).toBeGreaterThan(5);
      const [, , answer, results] = asked[1]!.prompt;
      expect(answer).toMatchObject({
        role: "assistant",
        content: [
          { type: "reasoning", text: "Let me look.", providerOptions: { player: { id: "r1", signature: "sealed" } } },
          { type: "text", text: "I look." },
          { type: "tool-call", toolCallId: "a", providerOptions: { player: { mark: "of a" } } },
          { type: "tool-call", toolCallId: "b" },
        ],
      });
      expect(results).toMatchObject({ role: "tool", content: [{ toolCallId: "a" }, { toolCallId: "b" }] });
      expect(stdout).not.toContain(key);
    },
  );

  test(verifies("C10", "of version 2 of the interface, with its own forms of finish and usage"), async () => {
    const v2 = {
      type: "finish",
      finishReason: "stop",
      usage: { inputTokens: 3, outputTokens: 4, cachedInputTokens: 1 },
    };
    const { code, stdout } = await play([[...text("Old."), v2]], {
      settings: { options: { turns: [[...text("Old."), v2]], file: "/dev/null", version: "v2" } },
    });
    expect([code, parseStream(stdout).at(-1)]).toMatchObject([
      0,
      { result: "Old.", usage: { inputTokens: 3, outputTokens: 4, cacheReadTokens: 1 } },
    ]);
  });

  test(verifies("C14", "goes on after --resume"), async () => {
    const turns = [[...text("One."), finish()]];
    const first = await play(turns);
    const session = String(parseStream(first.stdout)[0]!.session_id);
    const options = { cwd: first.cwd, home: first.home, environment: { PLAYER_KEY: key } };
    // A process loads a package once, with what it keeps.
    const second = await runProgram(["-p", "--model", "player/large", `--resume=${session}`, "and?"], options);
    expect(second.code).toBe(0);
    const asked = readAsked(join(first.home, "asked.ndjson"));
    expect(asked.at(-1)!.prompt.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
  });

  const half = text("half").slice(0, 2);
  const failures: readonly (readonly [string, readonly unknown[], number, string, number])[] = [
    ["without its finish", [half], 5, "STREAM_TRUNCATED", 1],
    ["interrupted", [[...half, finish("interrupted")]], 5, "STREAM_TRUNCATED", 1],
    ["empty, always", [[], []], 5, "STREAM_TRUNCATED", 2],
    [
      "with an error in mid-stream",
      [[...half, { type: "error", error: { type: "overloaded_error", message: "busy" } }]],
      5,
      "OVERLOADED",
      1,
    ],
    ["with a lost connection", [[...half, "fail"]], 5, "NETWORK", 1],
    ["silent", [[...half, "hang"]], 5, "STREAM_STALLED", 1],
    ["with an error as its finish", [[...half, finish("error")]], 5, "OVERLOADED", 1],
    ["cut", [0, 1, 2].map(() => [...half, finish("length")]), 6, "MAX_TOKENS", 3],
    ["filtered", [[...half, finish("content-filter")]], 4, "CONTENT_FILTER", 1],
    [
      "refused with 401",
      [{ throw: { message: `no ${key}`, statusCode: 401, responseBody: `{"error":"bad ${key}"}` } }],
      3,
      "AUTH_REJECTED",
      1,
    ],
    [
      "refused with 429, always",
      [0, 1].map(() => ({ throw: { message: "slow", statusCode: 429, responseHeaders: { "retry-after": "0" } } })),
      5,
      "RATE_LIMITED",
      2,
    ],
    ["without a key", [{ throw: { name: "AI_LoadAPIKeyError", message: "no key" } }], 3, "AUTH_REJECTED", 1],
    ["that breaks", [{ throw: { message: "a defect" } }], 4, "PROVIDER_REJECTED", 1],
  ];
  test.each(failures)(
    verifies(["C20", "C21", "C22", "R-10", "R-11", "S-41"], "%s: each outcome has its code"),
    async (_, turns, exitCode, code, requests) => {
      const run = await play(turns, { limits: { silenceSeconds: 1 } });
      const { error } = parseStream(run.stdout).at(-1)! as unknown as { error: { code: string; message: string } };
      expect([run.code, error.code, run.asked.length]).toEqual([exitCode, code, requests]);
      expect(run.stderr).toBe(`sheaf: ${error.code}: ${error.message}\n`);
      expect(run.stdout + run.stderr).not.toContain(key);
    },
  );

  test(verifies(["R-10", "R-11"], "is asked again as long as nothing was shown"), async () => {
    const busy = { throw: { message: "busy", statusCode: 503, responseHeaders: { "retry-after": "0" } } };
    const { code, stdout, asked } = await play([busy, [...text("Fine."), finish()]]);
    expect([code, parseStream(stdout).at(-1)!.result, asked.length]).toEqual([0, "Fine.", 2]);
  });
});

const escapePattern = (word: string): string => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);

describe("the configuration of a package", () => {
  /** Exit code 2 and one line on stderr that holds the words. */
  const invalid = (...words: readonly string[]) => ({
    code: 2,
    stderr: expect.stringMatching(
      new RegExp(`^sheaf: CONFIG_INVALID: ${words.map((word) => `[^\\n]*${escapePattern(word)}`).join("")}[^\\n]*\\n$`),
    ),
  });

  test(verifies(["C20", "C21"], "that is not installed names the command"), async () => {
    const run = await play([], { settings: { package: "@made/other/part" } });
    expect(run).toMatchObject(invalid(`"@made/other/part"`, `run npm install --prefix ${run.home} @made/other`));
  });

  test(verifies(["C20", "C21"], "with a wrong export or a foreign interface says which"), async () => {
    expect(await play([], { settings: { create: "createNothing" } })).toMatchObject(
      invalid('"createNothing"', "it has createPlayer"),
    );
    const options = { turns: [], file: "/dev/null", version: "v9" };
    expect(await play([], { settings: { options } })).toMatchObject(invalid("versions v2 to v4"));
  });

  test(verifies(["S-42", "S-04"], "takes no key in its options, and no name twice"), async () => {
    const run = await play([], { settings: { options: { apiKey: key } } });
    expect(run).toMatchObject(invalid('name its variable in "apiKeyEnv"'));
    expect(run.stderr).not.toContain(key);
    const home = folders.newFolder({
      "config.json": JSON.stringify({
        endpoints: { twice: { protocol: "openai-chat", baseUrl: "http://127.0.0.1:1" } },
        providers: { twice: { package: "p" } },
      }),
    });
    expect(await runSheaf(["-p", "--model", "twice/m", "go"], { cwd: home, home })).toMatchObject(
      invalid('in only one of "endpoints" and "providers"'),
    );
  });

  test(
    verifies(["S-01", "S-06"], "counts in the user's folder only: a package of the workspace is not loaded"),
    async () => {
      const marker = join(folders.newFolder(), "marker");
      const hostile = `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(marker)}, "");`;
      const config = JSON.stringify({ providers: { evil: { package: "evil" } } });
      const cwd = folders.newFolder({
        "node_modules/evil/index.js": hostile,
        "node_modules/evil/package.json": '{"name":"evil","type":"module"}',
        "config.json": config,
        ".sheaf/config.json": config,
      });
      const unknown = await runSheaf(["-p", "--model", "evil/m", "go"], { cwd, home: folders.newFolder() });
      expect([unknown.code, unknown.stderr]).toEqual([4, expect.stringContaining("MODEL_NOT_FOUND")]);
      const named = await runSheaf(["-p", "--model", "evil/m", "go"], {
        cwd,
        home: folders.newFolder({ "config.json": config }),
      });
      expect(named).toMatchObject(invalid("is not installed"));
      expect(() => readFileSync(marker)).toThrow("ENOENT");
    },
  );

  test(verifies("S-06", "may name a file next to it"), async () => {
    const cwd = folders.newFolder();
    const home = folders.newFolder({
      "mine/player.js": packageSource.replace("export function createPlayer", "export function createMine"),
      "package.json": '{"type":"module"}',
      "config.json": JSON.stringify({
        providers: {
          mine: {
            package: "./mine/player.js",
            options: { turns: [[...text("Mine."), finish()]], file: "/dev/null" },
            models: ["a"],
          },
        },
      }),
    });
    const run = await runSheaf(["-p", "--model", "mine/a", "go"], { cwd, home });
    expect([run.code, parseStream(run.stdout)[0]!.apiKeySource, parseStream(run.stdout).at(-1)!.result]).toEqual([
      0,
      "none",
      "Mine.",
    ]);
    expect((await runSheaf(["models", "mine"], { cwd, home })).stdout).toBe("mine/a\n");
  });
});
