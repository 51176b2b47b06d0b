/** Runs a test: each prompt in an ordinary run in a separate folder, with the test's answers instead of a model's. */
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunEvent } from "@sheaf/protocol";
import { preparePolicy } from "@sheaf/agent/assemble/prepare-policy";
import { createToolServers } from "@sheaf/agent/assemble/wire-servers";
import { createConfig } from "@sheaf/agent/config/config";
import { addTrust } from "@sheaf/agent/config/trust";
import { readWorkspaceHooks } from "@sheaf/agent/config/workspace-hooks";
import { type NamedBytes, toMessageAttachments } from "@sheaf/base/files/attachment";
import { removeTree } from "@sheaf/base/files/remove-tree";
import { toHash } from "@sheaf/base/files/read-file";
import type { Environment } from "@sheaf/base/paths";
import type { Model, ModelRequest } from "@sheaf/models/provider";
import { checkCase } from "../commands/permissions.ts";
import { createPromptRun } from "../prompt-run.ts";
import { settleText } from "@sheaf/agent/output/session-tests/compare-responses";
import { playAnswers } from "./play-answers.ts";
import { playServers } from "./play-servers.ts";
import { readEndFile, writeStartFiles } from "./start-files.ts";
import type { TestResponse } from "@sheaf/agent/output/session-tests/test-response";
import type { TestFile } from "./test-file.ts";
import { toTestResponse } from "@sheaf/agent/output/session-tests/to-test-responses";

/** Name of the test's model, whose answers are from `playAnswers`. */
const ANSWERS = "answers.json";

export interface PlayedTest {
  readonly responses: readonly TestResponse[];
  readonly logs: readonly (readonly RunEvent[])[];
  /** Texts of the files in the test's `expect`; null for a missing one. */
  readonly files: Readonly<Record<string, string | null>>;
  /** The text of the last request to the model. */
  readonly seen: string;
  /** Cases of rules with an unexpected decision, a line each. */
  readonly misjudged: readonly string[];
  /** Folder of the runs. */
  readonly root: string;
}

export interface PlayOptions {
  readonly environment: Environment;
  /** Name of a real model; undefined: the test's answers. */
  readonly model?: string | undefined;
  readonly signal: AbortSignal;
}

/** Plays a test. @throws SheafError CONFIG_INVALID for a test that can't be prepared. */
export async function playTest(test: TestFile, options: PlayOptions): Promise<PlayedTest> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sheaf-test-")));
  try {
    const root = join(folder, "workspace");
    mkdirSync(root);
    await writeStartFiles(test, root, options.environment);
    writeFileSync(join(folder, ANSWERS), JSON.stringify({ turns: [{ events: [] }] }));
    trustHooks({ workspace: root, dataFolder: join(folder, "home") });
    const openTransport = playServers(test);
    const logs: RunEvent[][] = [];
    const responses: TestResponse[] = [];
    let seen = "";
    for (const response of test.responses) {
      const sent: ModelRequest[] = [];
      const events = await runPrompt(
        { response, test, folder, root, openTransport, session: toSession(logs) },
        options,
        sent,
      );
      logs.push(events);
      responses.push({
        ...toTestResponse(events),
        ...(sent[0] && !response.shortens && { sent: toPrints(sent[0], events, root) }),
      });
      seen = sent.length === 0 ? seen : toText(sent.at(-1)!);
      if (options.signal.aborted) break;
    }
    const named = Object.keys(test.expect?.files ?? {});
    const files = Object.fromEntries(named.map((path) => [path, readEndFile(root, path)]));
    return { responses, logs, files, seen, misjudged: await listMisjudged(test, { folder, root, options }), root };
  } finally {
    await removeTree(folder);
  }
}

function toSession([first]: readonly (readonly RunEvent[])[]): string | undefined {
  return first?.[0]?.type === "run_start" ? first[0].conversationId : undefined;
}

const toNamedBytes = ({ name, base64 }: { readonly name: string; readonly base64: string }): NamedBytes => ({
  name,
  bytes: Buffer.from(base64, "base64"),
});

/** Trusts a file of the workspace's hooks if all of them run in the sandbox, as the hooks of the test do. */
function trustHooks(places: { readonly workspace: string; readonly dataFolder: string }): void {
  for (const entry of readWorkspaceHooks(places)) {
    if (entry.state !== "unusable" && entry.hooks.every(({ isSandboxed }) => isSandboxed))
      addTrust("hooks", entry, places);
  }
}

interface PlayedPrompt {
  readonly response: TestResponse;
  readonly test: TestFile;
  readonly folder: string;
  readonly root: string;
  readonly openTransport: ReturnType<typeof playServers>;
  readonly session: string | undefined;
}

async function runPrompt(
  { response, test, folder, root, openTransport, session }: PlayedPrompt,
  { environment, model, signal }: PlayOptions,
  sent: ModelRequest[],
): Promise<RunEvent[]> {
  const flags = { ...(session !== undefined && { resume: session }) };
  const { config, env } = toTestConfig({ test, folder, root, response }, { environment, model });
  const { hooks } = config;
  const { prompt, shortens, attachments = [] } = response;
  // `openTransport` has these names, so no program starts.
  const servers = Object.keys(test.servers ?? {}).map((name) => [name, { command: "played" }] as const);
  const toolServers = servers.length === 0 ? undefined : createToolServers(env, undefined, undefined, openTransport);
  const controller = new AbortController();
  const run = createPromptRun({
    message: {
      prompt,
      ...(shortens && { shortens }),
      ...(attachments.length > 0 && { attachments: toMessageAttachments(attachments.map(toNamedBytes)) }),
    },
    config: {
      ...config,
      hooks: hooks && { ...hooks, file: undefined, isSandboxed: true },
      toolChoice: {},
      labels: undefined,
    },
    flags,
    mcpServers: Object.fromEntries(servers),
    toolServers,
    io: { environment: env, cwd: root },
    control: { signal: AbortSignal.any([signal, controller.signal]), abort: (reason) => controller.abort(reason) },
    wrapModel: (inner) => keepRequests(model === undefined ? playAnswers(inner, response) : inner, sent),
  });
  const events: RunEvent[] = [];
  for await (const group of run.events()) events.push(...group);
  await run.close();
  await toolServers?.close();
  return events;
}

function keepRequests(model: Model, sent: ModelRequest[]): Model {
  return {
    ...model,
    stream(request, signal) {
      sent.push(request);
      return model.stream(request, signal);
    },
  };
}

/** Joins the texts that the model reads. */
function toText({ system, messages }: ModelRequest): string {
  const texts = messages.map((message) => {
    if (message.role === "assistant") return JSON.stringify(message.content);
    return message.role === "tool" ? message.output : message.text;
  });
  return [system, ...texts].join("\n");
}

interface ConfigPlace {
  readonly test: TestFile;
  readonly folder: string;
  readonly root: string;
  readonly response?: TestResponse;
}

/** Returns the settings of the test's runs, without the user's configuration, so that a test passes on any machine. */
function toTestConfig(
  { test, folder, root, response }: ConfigPlace,
  { environment, model }: Pick<PlayOptions, "environment" | "model">,
) {
  const own: Environment = model === undefined ? { PATH: environment.PATH, LANG: environment.LANG } : environment;
  const env: Environment = { ...own, SHEAF_HOME: join(folder, "home") };
  const raw = {
    model: model ?? `scripted:${join(folder, ANSWERS)}`,
    workspace: root,
    mode: response?.mode,
    contextTokens: response?.window === undefined ? undefined : `${response.window}`,
    force: test.force ? (true as const) : undefined,
    trust: test.untrusted ? undefined : (true as const),
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

/** Hashes the parts of the model's first input, without text that differs between machines and days. */
function toPrints({ system, tools, messages }: ModelRequest, events: readonly RunEvent[], root: string) {
  const [start] = events;
  const environment = start?.type === "run_start" ? start.environment : undefined;
  const toPrint = (text: string): string => {
    const known = text.replaceAll(root, "<workspace>");
    return toHash(Buffer.from(settleText(known))).slice(0, 12);
  };
  const last = messages.findLastIndex(({ role }) => role !== "user");
  const prompt = messages.slice(last + 1).flatMap((message) => {
    if (message.role !== "user") return [];
    return [message.text, ...(message.attachments ?? []).map(({ name, sha256 }) => `${name} ${sha256}`)];
  });
  return {
    prompt: toPrint(prompt.filter((text) => text !== environment).join("\n")),
    "system prompt": toPrint(system),
    tools: toPrint(JSON.stringify(tools)),
  };
}
