/** The program `sheaf-conformance`. */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { levels, type Level } from "./check.ts";
import { encodeNdjson } from "@sheaf/protocol/encode";
import { Http } from "./http.ts";
import { parseProfile, profiles, type Profile } from "./profile.ts";
import { createReducerVectors } from "./reducer-vectors.ts";
import { createReport, formatOutcome, formatSummary } from "./report.ts";
import { runSuite, selectChecks, type Outcome, type SuiteOptions } from "./run-suite.ts";

/** Parts of its process that the program needs. */
export interface MainIo {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
}

const help = `Checks a server against the contract of Sheaf's Chat API.

  sheaf-conformance URL [flags]

  --token TOKEN       sent after "Authorization: Bearer"; or SHEAF_CONFORMANCE_TOKEN
  --token-file FILE   the same, from the first line of a file
  --level LEVEL       base, resumable or interactive (default): the highest level to check
  --profile NAME      prompts: offline (Sheaf's rule-based model), any (default), or a JSON file
  --model MODEL       model for prompts without one
  --only LIST         ids of checks or clauses, separated by commas
  --wait SECONDS      how long to wait for an answer or an event (default 30)
  --json              one JSON object at the end instead of lines
  --strict            count skipped checks as failures
  --list              list the checks, without running them
  --vectors           for clients: streams and the responses they add up to, one JSON object a line

It sends prompts, so it costs tokens; its prompts may write sheaf-conformance.txt into the server's workspace.
Exit code: 0 no check failed, 1 a check failed, 2 wrong usage or no server.
`;

const flags = {
  token: { type: "string" },
  "token-file": { type: "string" },
  level: { type: "string", default: "interactive" },
  profile: { type: "string", default: "any" },
  model: { type: "string" },
  only: { type: "string" },
  wait: { type: "string", default: "30" },
  json: { type: "boolean", default: false },
  strict: { type: "boolean", default: false },
  list: { type: "boolean", default: false },
  vectors: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

type Flags = ReturnType<typeof parse>["values"];

function parse(words: readonly string[]) {
  return parseArgs({ args: [...words], options: flags, allowPositionals: true, strict: true });
}

/** Returns the exit code. */
export async function runMain(words: readonly string[], io: MainIo): Promise<number> {
  try {
    const { values, positionals } = parse(words);
    if (values.help) return print(io, help);
    if (values.vectors)
      return print(
        io,
        createReducerVectors()
          .map((vector) => encodeNdjson(vector))
          .join(""),
      );
    if (values.list) return print(io, toList(values));
    const options = toOptions(values, positionals, io);
    return await check(options, values, io);
  } catch (error) {
    io.writeError(`sheaf-conformance: ${(error as Error).message}\n`);
    return 2;
  }
}

function print(io: MainIo, text: string): number {
  io.write(text);
  return 0;
}

function toList({ level, only }: Flags): string {
  const checks = selectChecks({ level: toLevel(level), ...toOnly(only) });
  return checks
    .map(({ id, level: own, title, clauses }) => `${own.padEnd(12)} ${id.padEnd(26)} ${title} [${clauses.join(" ")}]\n`)
    .join("");
}

async function check(options: SuiteOptions, { json, strict }: Flags, io: MainIo): Promise<number> {
  await reach(options);
  const outcomes: Outcome[] = [];
  for await (const outcome of runSuite(options)) {
    outcomes.push(outcome);
    if (!json) io.write(`${formatOutcome(outcome)}\n`);
  }
  const report = createReport(options.baseUrl, outcomes);
  io.write(json ? `${JSON.stringify(report)}\n` : `${formatSummary(report)}\n`);
  const isBad = outcomes.some(({ status }) => status === "failed" || (strict && status === "skipped"));
  return isBad ? 1 : 0;
}

/** Checks that the server can be reached, and accepts the token: without these, checks prove no violation. */
async function reach(options: SuiteOptions): Promise<void> {
  const { baseUrl, token, waitMs } = options;
  try {
    await fetch(baseUrl, { signal: AbortSignal.timeout(waitMs) });
  } catch (error) {
    throw new Error(`no server answers at ${baseUrl}: ${String((error as Error).cause ?? error)}`, { cause: error });
  }
  // The checks report anything else that is wrong with the answer.
  const answer = await new Http(options).send("GET", "/v1/conversations?limit=1").catch(() => undefined);
  if (answer?.status !== 401) return;
  throw new Error(`${baseUrl} ${token === undefined ? "requires a token" : "rejects the token"}: see --token`);
}

function toOptions(values: Flags, positionals: readonly string[], io: MainIo): SuiteOptions {
  const [address, ...more] = positionals;
  if (address === undefined || more.length > 0)
    throw new Error(`the command takes one URL, not ${positionals.length}: see --help`);
  if (!URL.canParse(address) || !/^https?:/.test(address)) throw new Error(`"${address}" is not an http address`);
  const seconds = Number(values.wait);
  if (!(seconds > 0)) throw new Error(`--wait "${values.wait}" is not a number of seconds`);
  return {
    baseUrl: address,
    token: toToken(values, io),
    profile: toProfile(values.profile, values.model),
    waitMs: seconds * 1000,
    level: toLevel(values.level),
    ...toOnly(values.only),
  };
}

function toLevel(word: string): Level {
  const level = levels.find((each) => each === word);
  if (level === undefined) throw new Error(`--level "${word}" is not one of ${levels.join(", ")}`);
  return level;
}

function toOnly(list: string | undefined): { readonly only?: readonly string[] } {
  if (list === undefined) return {};
  const only = list.split(",").map((word) => word.trim());
  for (const word of only) {
    if (selectChecks({ only: [word] }).length === 0)
      throw new Error(`--only "${word}" is unknown: use a check or a clause of --list`);
  }
  return { only };
}

function toToken(values: Flags, { environment }: MainIo): string | undefined {
  const file = values["token-file"];
  if (file === undefined) return values.token ?? environment["SHEAF_CONFORMANCE_TOKEN"];
  return readFileSync(file, "utf8").split("\n", 1)[0]!.trim();
}

function toProfile(name: string, model: string | undefined): Profile {
  const profile = name === "offline" || name === "any" ? profiles[name] : parseProfile(readFileSync(name, "utf8"));
  if (model === undefined) return profile;
  return Object.fromEntries(Object.entries(profile).map(([key, prompt]) => [key, { model, ...prompt }]));
}
