/** The SDK of Codex and a provider of the AI SDK, as they come from the registry, with Sheaf in place of Codex. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { describeWithBubblewrap } from "../support/bubblewrap.ts";
import { installClients, installNewest } from "../support/clients.ts";
import { describeWhere, skipIfMissing, testDeep } from "../support/describe-where.ts";
import { createTestFolder, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

interface Event {
  readonly type: string;
  readonly item?: { readonly type: string };
}
interface Thread {
  readonly id: string | null;
  readonly run: (
    input: unknown,
    options?: object,
  ) => Promise<{ items: object[]; finalResponse: string; usage: object }>;
  readonly runStreamed: (input: unknown, options?: object) => Promise<{ events: AsyncIterable<Event> }>;
}
interface Codex {
  readonly startThread: (options: object) => Thread;
  readonly resumeThread: (id: string, options: object) => Thread;
}
interface Sdk {
  readonly Codex: new (options: object) => Codex;
}

const folders = createTestFolder();
const clients = folders.newFolder();
const home = folders.newFolder();
const bin = join(clients, "bin");
mkdirSync(bin);
await runSheaf(["install-alias", bin, "--as", "codex"], { cwd: clients, home });
const missing = await installClients(clients);
const program = join(bin, "codex");
const env = { PATH: `${bin}${delimiter}${process.env.PATH}`, HOME: home, SHEAF_HOME: join(home, ".sheaf") };

const say = (text: string) => ({ events: [{ reasoning: "hm" }, { text }] });
const call = (tool: string, args: object) => ({ events: [{ call: { tool, arguments: args } }] });
const run = (command: string) => call("run_terminal_cmd", { command });

/** Starts a thread in a new folder, with a model that plays these turns. */
async function open(turns: readonly object[], options: object = {}, folder = clients) {
  const index = pathToFileURL(join(folder, "node_modules/@openai/codex-sdk/dist/index.js")).href;
  const { Codex } = (await import(index)) as Sdk;
  const cwd = folders.newFolder({ "README.md": "# Wordy\n", "s.json": JSON.stringify({ turns }), "a.png": pixel });
  const codex = new Codex({ codexPathOverride: program, apiKey: "sk-CANARY", env });
  const all = { model: `scripted:${join(cwd, "s.json")}`, workingDirectory: cwd, skipGitRepoCheck: true, ...options };
  return { cwd, thread: codex.startThread(all), resume: (id: string) => codex.resumeThread(id, all) };
}

const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** A run, and one that goes on with it. */
async function checkRuns(folder: string): Promise<string> {
  const turns = [call("write_file", { target_file: "new.txt", contents: "new" }), say("One."), say("Two.")];
  const { cwd, thread, resume } = await open(
    turns,
    { sandboxMode: "workspace-write", approvalPolicy: "never" },
    folder,
  );
  const { items, finalResponse, usage } = await thread.run("Go");
  expect(items).toEqual([
    { id: "item_0", type: "error", message: expect.stringMatching(/^CODEX_API_KEY is ignored/) as string },
    {
      id: "item_1",
      type: "file_change",
      changes: [{ path: join(cwd, "new.txt"), kind: "add" }],
      status: "completed",
    },
    { id: "item_2", type: "reasoning", text: "hm" },
    { id: "item_3", type: "agent_message", text: "One." },
  ]);
  expect([finalResponse, usage]).toEqual([
    "One.",
    expect.objectContaining({ input_tokens: expect.any(Number) as number }),
  ]);
  expect(readFileSync(join(cwd, "new.txt"), "utf8")).toBe("new");
  const second = resume(thread.id!);
  const { finalResponse: last } = await second.run("Go on");
  expect(second.id).toBe(thread.id);
  return last;
}

describeWhere("the SDK of Codex", missing, () => {
  test(verifies(["C210", "C212", "C213"], "a run with a changed file, and one that continues it"), async () => {
    expect(await checkRuns(clients)).toBe("Two.");
  });

  test(verifies("C210", "an image is attached, and a missing one fails with its name"), async () => {
    const { cwd, thread } = await open([say("Red.")]);
    const toInput = (path: string) => [
      { type: "text", text: "Which color?" },
      { type: "local_image", path },
    ];
    expect((await thread.run(toInput(join(cwd, "a.png")))).finalResponse).toBe("Red.");
    const shown = await runSheaf(["export", thread.id!, "--format", "json"], { cwd, home: env.SHEAF_HOME });
    expect(shown.stdout).toContain("a.png");
    const other = await open([say("Red.")]);
    await expect(other.thread.run(toInput(join(cwd, "none.png")))).rejects.toThrow(/none\.png/);
  });

  test(verifies(["C210", "C212"], "with a schema the answer is the checked JSON"), async () => {
    const schema = { type: "object", properties: { color: { type: "string" } }, required: ["color"] };
    const { thread } = await open([say('```json\n{ "color": "red" }\n```')]);
    const { finalResponse } = await thread.run("Which color?", { outputSchema: schema });
    expect(JSON.parse(finalResponse)).toEqual({ color: "red" });
  });

  test(verifies("C212", "a turn that fails rejects with its code"), async () => {
    const { thread } = await open([{ events: [], finish: "content_filter" }]);
    await expect(thread.run("Go")).rejects.toThrow(/^CONTENT_FILTER: /);
  });

  test(verifies(["C23", "C212"], "an aborted turn ends, and the thread continues"), async () => {
    const waits = { events: [{ reasoning: "hm" }, { text: "begin " }, { wait_ms: 60_000 }, { text: "never" }] };
    const { thread, resume } = await open([waits, say("Two.")]);
    const abort = new AbortController();
    const { events } = await thread.runStreamed("Go", { signal: abort.signal });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { type, item } of events) {
        seen.push(item ? `${type} ${item.type}` : type);
        if (item?.type === "reasoning") abort.abort();
      }
    })();
    await expect(reading).rejects.toThrow(/abort/i);
    expect(seen.slice(0, 2)).toEqual(["thread.started", "turn.started"]);
    expect(seen).not.toContain("turn.completed");
    await expect.poll(() => resume(thread.id!).run("Go on").then(toFinal, String)).toBe("Two.");
  });
});

const toFinal = ({ finalResponse }: { readonly finalResponse: string }): string => finalResponse;

describeWithBubblewrap("the SDK of Codex in the sandbox", () => {
  test.each([
    ["read-only", ["README.md", "a.png", "s.json"]],
    ["workspace-write", ["README.md", "a.png", "in.txt", "s.json"]],
    ["danger-full-access", ["README.md", "a.png", "in.txt", "s.json"]],
  ])(verifies("C211", "%s: what a command may write"), async (sandboxMode, files) => {
    skipIfMissing(missing);
    const outside = join(folders.newFolder(), "out.txt");
    const command = `echo in > in.txt; echo out > ${outside}; echo done`;
    const { cwd, thread } = await open([run(command), say("Done.")], { sandboxMode, networkAccessEnabled: false });
    const { items } = await thread.run("Go");
    const shown = { type: "command_execution", command, status: "completed", exit_code: 0 };
    expect(items).toContainEqual(expect.objectContaining(shown));
    expect(items.some((item) => JSON.stringify(item).includes("the sandbox stays on"))).toBe(
      sandboxMode === "danger-full-access",
    );
    expect([readdirSync(cwd), existsSync(outside)]).toEqual([files, false]);
  });
});

describeWhere("ai-sdk-provider-codex-cli", missing, () => {
  test(verifies(["C210", "C212"], "an answer with a tool, an object, and a failure"), async () => {
    const index = pathToFileURL(join(clients, "node_modules/ai-sdk-provider-codex-cli/dist/index.js")).href;
    const { createCodexExec } = (await import(index)) as { createCodexExec: () => (id: string, o: object) => Model };
    const prompt = [{ role: "user", content: [{ type: "text", text: "Go" }] }];
    const ask = (turns: readonly object[], responseFormat?: object) => {
      const cwd = folders.newFolder({ "README.md": "# Wordy\n", "s.json": JSON.stringify({ turns }) });
      const model = createCodexExec()("scripted:s.json", { codexPath: program, cwd, env, logger: false });
      return model.doGenerate({ prompt, ...(responseFormat && { responseFormat }) });
    };
    const { content } = await ask([call("read_file", { target_file: "README.md" }), say("Wordy.")]);
    expect(content.map(({ type, toolName, text }) => [type, toolName ?? text])).toEqual([
      ["tool-call", "read_file"],
      ["tool-result", "read_file"],
      ["text", "Wordy."],
    ]);
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const object = await ask([say('{"n": 1}')], { type: "json", schema });
    expect(object.content.at(-1)!.text).toBe('{"n":1}');
    await expect(ask([{ events: [], finish: "refusal" }])).rejects.toThrow(/exited with code/);
  });
});

interface Model {
  readonly doGenerate: (options: object) => Promise<{
    readonly content: readonly { readonly type: string; readonly toolName?: string; readonly text?: string }[];
  }>;
}

testDeep("the newest SDK of Codex runs too", async () => {
  const folder = folders.newFolder();
  skipIfMissing(await installNewest(folder, ["@openai/codex-sdk"]));
  expect(await checkRuns(folder)).toBe("Two.");
});
