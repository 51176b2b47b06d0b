/** Runs a test: the ordinary run of each prompt in a folder of its own, where the test's answers take the model's place. */
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunEvent } from "@sheaf/protocol";
import { preparePolicy } from "@sheaf/agent/assemble/prepare-policy";
import { createConfig } from "@sheaf/agent/config/config";
import { removeTree } from "@sheaf/base/files/remove-tree";
import { toHash } from "@sheaf/base/files/read-file";
import type { Environment } from "@sheaf/base/paths";
import type { Model, ModelRequest } from "@sheaf/models/provider";
import { checkCase } from "../commands/permissions.ts";
import { createPromptRun } from "../prompt-run.ts";
import { settleText } from "./compare-responses.ts";
import { readEndFile, writeStartFiles } from "./start-files.ts";
import type { TestFile, TestResponse, TestTurn } from "./test-file.ts";
import { checkPlayable, toTestResponse } from "./to-test-responses.ts";

/** The script of the model, beside the workspace. */
const ANSWERS = "answers.json";

/** What happened. */
export interface PlayedTest {
  readonly responses: readonly TestResponse[];
  readonly logs: readonly (readonly RunEvent[])[];
  /** The texts of the files that the test names in `expect`. */
  readonly files: Readonly<Record<string, string | null>>;
  /** Cases of rules that were decided in another way, a line each. */
  readonly misjudged: readonly string[];
  /** Where it ran. */
  readonly root: string;
}

export interface PlayOptions {
  readonly environment: Environment;
  /** A real model by its name; undefined: the answers of the test. */
  readonly model?: string | undefined;
  readonly signal: AbortSignal;
}

/** @throws SheafError CONFIG_INVALID for a test that cannot be prepared. */
export async function playTest(test: TestFile, options: PlayOptions): Promise<PlayedTest> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sheaf-test-")));
  try {
    const root = join(folder, "workspace");
    mkdirSync(root);
    await writeStartFiles(test, root, options.environment);
    const turns = test.responses.flatMap((response) => response.turns.map(toScriptedTurn));
    writeFileSync(join(folder, ANSWERS), JSON.stringify({ turns }));
    const logs: RunEvent[][] = [];
    const responses: TestResponse[] = [];
    for (const { prompt, mode } of test.responses) {
      const sent: { request?: ModelRequest } = {};
      const events = await runPrompt({ prompt, mode, test, folder, root, session: toSession(logs) }, options, sent);
      checkPlayable(events);
      logs.push(events);
      responses.push({
        ...toTestResponse(events),
        ...(sent.request && { sent: toPrints(sent.request, events, root) }),
      });
      if (options.signal.aborted) break;
    }
    const named = Object.keys(test.expect?.files ?? {});
    const files = Object.fromEntries(named.map((path) => [path, readEndFile(root, path)]));
    return { responses, logs, files, misjudged: await listMisjudged(test, { folder, root, options }), root };
  } finally {
    await removeTree(folder);
  }
}

function toSession([first]: readonly (readonly RunEvent[])[]): string | undefined {
  return first?.[0]?.type === "run_start" ? first[0].conversationId : undefined;
}

interface PlayedPrompt {
  readonly prompt: string;
  readonly mode: TestResponse["mode"] | undefined;
  readonly test: TestFile;
  readonly folder: string;
  readonly root: string;
  readonly session: string | undefined;
}

async function runPrompt(
  { prompt, mode, test, folder, root, session }: PlayedPrompt,
  { environment, model, signal }: PlayOptions,
  sent: { request?: ModelRequest },
): Promise<RunEvent[]> {
  const flags = { ...(session !== undefined && { resume: session }) };
  const { config, env } = toTestConfig({ test, folder, root, mode }, { environment, model });
  const { hooks } = config;
  const controller = new AbortController();
  const run = createPromptRun({
    message: { prompt },
    config: {
      ...config,
      hooks: hooks && { ...hooks, file: undefined, isSandboxed: true },
      toolChoice: {},
      labels: undefined,
    },
    flags,
    io: { environment: env, cwd: root },
    control: { signal: AbortSignal.any([signal, controller.signal]), abort: (reason) => controller.abort(reason) },
    wrapModel: (inner) => noteRequest(inner, sent),
  });
  const events: RunEvent[] = [];
  for await (const group of run.events()) events.push(...group);
  await run.close();
  return events;
}

interface ConfigPlace {
  readonly test: TestFile;
  readonly folder: string;
  readonly root: string;
  readonly mode?: TestResponse["mode"] | undefined;
}

/** The settings of the test's runs; nothing of the user's own counts, so that a test passes on any machine. */
function toTestConfig(
  { test, folder, root, mode }: ConfigPlace,
  { environment, model }: Pick<PlayOptions, "environment" | "model">,
) {
  const own: Environment = model === undefined ? { PATH: environment.PATH, LANG: environment.LANG } : environment;
  const env: Environment = { ...own, SHEAF_HOME: join(folder, "home") };
  const raw = {
    model: model ?? `scripted:${join(folder, ANSWERS)}`,
    workspace: root,
    mode,
    force: test.force ? (true as const) : undefined,
    trust: true as const,
    deny: test.expect?.never,
  };
  return { config: createConfig(raw, env, root, { settings: test.config ?? {}, fault: undefined }), env };
}

async function listMisjudged(
  test: TestFile,
  { folder, root, options }: { readonly folder: string; readonly root: string; readonly options: PlayOptions },
): Promise<readonly string[]> {
  const cases = (["allow", "ask", "deny"] as const).flatMap((effect) =>
    (test.rules?.[effect] ?? []).map((given) => ({ effect, given })),
  );
  if (cases.length === 0) return [];
  const { config, env } = toTestConfig({ test, folder, root }, options);
  const policy = await preparePolicy({
    ...config,
    trusted: true,
    environment: env,
    sandboxMemory: undefined,
    now: Date.now,
  });
  const lines: string[] = [];
  for (const { effect, given } of cases) {
    const { decision } = await checkCase(given, policy);
    if (decision !== effect) lines.push(`${JSON.stringify(given)} is ${decision}, not ${effect}`);
  }
  return lines;
}

function toScriptedTurn({ text, calls = [], finish, fails }: TestTurn) {
  return {
    events: [
      ...(text === undefined ? [] : [{ text }]),
      ...(calls.length === 0
        ? []
        : [{ calls: calls.map(({ tool, arguments: args = {} }) => ({ tool, arguments: args })) }]),
      ...(fails === undefined ? [] : [{ error: { code: fails, message: "the request failed when the session ran" } }]),
    ],
    ...(finish && { finish }),
  };
}

/** Keeps the first request. */
function noteRequest(model: Model, sent: { request?: ModelRequest }): Model {
  return {
    ...model,
    stream(request, signal) {
      sent.request ??= request;
      return model.stream(request, signal);
    },
  };
}

/** Prints of what the model is sent first. What differs between machines and days is left out. */
function toPrints({ system, tools, messages }: ModelRequest, events: readonly RunEvent[], root: string) {
  const [start] = events;
  const environment = start?.type === "run_start" ? start.environment : undefined;
  const toPrint = (text: string): string => {
    const known = text.replaceAll(root, "<workspace>");
    return toHash(Buffer.from(settleText(known))).slice(0, 12);
  };
  const last = messages.findLastIndex(({ role }) => role !== "user");
  const prompt = messages.slice(last + 1).map((message) => (message.role === "user" ? message.text : ""));
  return {
    prompt: toPrint(prompt.filter((text) => text !== environment).join("\n")),
    "system prompt": toPrint(system),
    tools: toPrint(JSON.stringify(tools)),
  };
}
