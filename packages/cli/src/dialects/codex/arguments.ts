/** Turns the arguments of `codex exec` into a prompt of Sheaf (C210). */
import { parseJson } from "@sheaf/protocol/check-value";
import { SheafError } from "@sheaf/base/errors";
import type { Environment } from "@sheaf/base/paths";
import { takeValue, toOption } from "../../arguments.ts";
import { chooseWord } from "../../command-flags.ts";
import { flags as sheafFlags, type FlagValues } from "../../flags.ts";
import type { ReadArguments } from "../dialect.ts";
import { ignoreUnknown } from "../ignore-unknown.ts";

/** The arguments that have been read. */
interface Draft {
  readonly flags: { -readonly [Name in keyof FlagValues]: FlagValues[Name] };
  /** Ignored parts, each with the reason. */
  readonly losses: Map<string, string>;
  sandbox?: string;
}

/** The meaning of a flag: a flag of Sheaf, the reason why it has no effect ("" if no loss), or a function. */
type Meaning = string | ((value: unknown, draft: Draft) => void);

const fullAccess = "danger-full-access";
const policies = ["never", "on-request", "on-failure", "untrusted"];
const efforts: Readonly<Record<string, string>> = { none: "off", minimal: "low", xhigh: "max", ultra: "max" };
const ownConfig = "Sheaf doesn't read Codex's configuration: sheaf config explain shows the settings";

/** Meanings by flag and by `--config` key; equal ones share a line. */
const meanings: Readonly<Record<string, Meaning>> = {
  "-c, --config <KEY=VALUE>": applyConfig,
  "-m, --model, model <MODEL>": "--model",
  "model_reasoning_effort <EFFORT>": (value, { flags }) => {
    flags.effort = efforts[String(value)] ?? String(value);
  },
  "developer_instructions <TEXT>": "--append-system-prompt",
  "openai_base_url <URL>": "--base-url",
  "-s, --sandbox, sandbox_mode <MODE>": setSandbox,
  // An explicit sandbox wins at any position.
  "--full-auto": (_, draft) => setSandbox(draft.sandbox ?? "workspace-write", draft),
  "--dangerously-bypass-approvals-and-sandbox, --yolo": (_, draft) => setSandbox(fullAccess, draft),
  "sandbox_workspace_write.network_access <BOOLEAN>": (value, { flags }) => {
    if (value === true) flags.allow = ["Network(*)"];
  },
  "-a, --ask-for-approval, approval_policy <POLICY>": (value, { flags }) => {
    if (chooseWord("approval_policy", String(value), policies) === "untrusted") flags.ask = ["Shell(*)"];
  },
  "--search, web_search, tools.web_search": (value, { flags }) => {
    if (value !== false && value !== "disabled") flags["web-search"] = true;
  },
  "-C, --cd <DIR>": "--workspace",
  "--add-dir, sandbox_workspace_write.writable_roots <DIR>": "--add-dir",
  "-i, --image <FILE>": (value, draft) => apply("--image", String(value).split(","), draft, ""),
  "--output-schema <FILE>": "--output-schema",
  "-o, --output-last-message <FILE>": "--output-last-message",
  "--json, --experimental-json": (_, { flags }) =>
    void Object.assign(flags, { "output-format": "stream-json", "include-thinking": true }),
  "--ephemeral": "--no-save",
  "--trust": "--trust",
  "--worktree": "--worktree",
  "--last": "--continue",
  "-h, --help": "--help",
  "-V, --version": "--version",
  "--skip-git-repo-check": "",
  "--color <WHEN>": "",
  "-p, --profile <NAME>": ownConfig,
  "--ignore-user-config, --strict-config": ownConfig,
  "--enable, --disable <FEATURE>": "Sheaf has no features of this kind",
  "--thread-source <SOURCE>": "--label classifies a run of Sheaf",
  "shell_environment_policy.inherit <WHICH>": "commands get the variables that the sandbox lets through",
  "--oss": () => refuse("--oss", "name a local model, for instance --model ollama/qwen3"),
  "--all": () => refuse("--all", "name the session: sheaf ls --all lists every one"),
};

const known = new Map(
  Object.entries(meanings).flatMap(([syntax, meaning]) => {
    const [words = "", value] = syntax.split(" <");
    const kind = value === undefined ? ("switch" as const) : ("value" as const);
    return words.split(", ").map((spelling) => [spelling, { kind, meaning }] as const);
  }),
);

/** Reads arguments; `environment` may have the key for an address. @throws SheafError USAGE for unsupported words. */
export function readCodexArguments(given: readonly string[], environment: Environment): ReadArguments {
  // The caller can't answer questions.
  const flags: Draft["flags"] = { print: true, sandbox: "enabled", "exclude-tools": "ask_question" };
  const draft: Draft = { flags, losses: new Map() };
  const words = readWords(given, draft);
  const positionals = flags.help || flags.version ? [] : takePrompt(words, draft);
  // Read-only runs have no network.
  if (flags.sandbox) delete flags.allow;
  takeKey(draft, environment.CODEX_API_KEY?.trim() ?? "");
  const notices = [...draft.losses].map(([name, reason]) => {
    return { code: "FLAG_IGNORED" as const, message: `${name} is ignored: ${reason}` };
  });
  return { parsed: { command: "prompt", flags, positionals }, notices };
}

/** Applies the flags; returns the remaining words. */
function readWords(given: readonly string[], draft: Draft): string[] {
  const words: string[] = [];
  const { tokens: rest } = process.getBuiltinModule("node:util").parseArgs({
    args: [...given],
    options: Object.fromEntries([...known].filter(([name]) => name.startsWith("-")).map(toOption)),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  for (let token = rest.shift(); token; token = rest.shift()) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const { rawName, inlineValue } = token;
    const flag = known.get(rawName);
    // The word after an unknown flag may be its value, or the prompt.
    const isUnclear = !inlineValue && rest[0]?.kind === "positional" && !/^(-|resume)$/.test(rest[0].value);
    if (flag) apply(flag.meaning, takeValue(token, flag, rest), draft, rawName);
    else if (isUnclear) refuse(rawName, `write ${rawName}=VALUE, or put the prompt after --`);
    else loseUnknown(rawName, draft);
  }
  return words;
}

function apply(meaning: Meaning, value: unknown, draft: Draft, name: string): void {
  const { flags, losses } = draft;
  const own = typeof meaning === "string" ? sheafFlags.get(meaning) : undefined;
  if (typeof meaning !== "string") meaning(value, draft);
  else if (own?.kind === "list") Object.assign(flags, { [own.name]: [flags[own.name] ?? [], value].flat(2) });
  else if (own) Object.assign(flags, { [own.name]: own.kind === "optional" ? "" : value });
  else if (meaning !== "") losses.set(name, meaning);
}

/** Ignores a name. @throws SheafError USAGE if it may limit the run. */
function loseUnknown(name: string, { losses }: Draft): void {
  ignoreUnknown(name);
  losses.set(name, "Sheaf does not know it");
}

/** Applies `KEY=VALUE`, where VALUE is TOML; a string may lack its quotes. */
function applyConfig(word: unknown, draft: Draft): void {
  const [, key = "", text = ""] = /^\s*(\w[^=]*?)\s*=\s*(.*?)\s*$/s.exec(String(word)) ?? [];
  const value = parseJson(text) ?? /^'(.*)'$/s.exec(text)?.[1] ?? text;
  const found = known.get(key);
  if (found) apply(found.meaning, value, draft, `--config ${key}`);
  else if (key.startsWith("mcp_servers.")) draft.losses.set("mcp_servers", "sheaf mcp add adds a server");
  else loseUnknown(`--config ${key}`, draft);
}

/** Returns the words of the prompt. */
function takePrompt([command = "", ...words]: readonly string[], draft: Draft): readonly string[] {
  const name = `codex ${command}`.trim();
  if (!/^(exec|e)$/.test(command)) refuse(name, "Sheaf has only codex exec: for a terminal start sheaf");
  if (/^(review|fork)$/.test(words[0] ?? "")) refuse(`${name} ${words[0]}`, "write the order as a prompt");
  const isResumed = words[0] === "resume";
  if (isResumed) words.shift();
  if (isResumed && !draft.flags.continue) draft.flags.resume = words.shift() ?? "";
  if (words.length > 1) refuse(`the word "${words[1]}"`, "put the whole prompt in quotes");
  return words;
}

/** Sets the run's rights, always within the sandbox. */
function setSandbox(mode: unknown, draft: Draft): void {
  const { flags, losses } = draft;
  const sandbox = chooseWord("--sandbox", String(mode), ["read-only", "workspace-write", fullAccess]);
  draft.sandbox = sandbox;
  // In `read-only`, only the sandbox prevents commands from writing.
  if (sandbox === "read-only") flags.sandbox = "enabled";
  else delete flags.sandbox;
  const network = "-c sandbox_workspace_write.network_access=true opens the network to commands";
  if (sandbox === fullAccess) losses.set(sandbox, `the sandbox stays on, ${network}`);
}

/** Uses the key only for the address in the same arguments. */
function takeKey({ flags, losses }: Draft, key: string): void {
  const isAddressed = flags["base-url"] !== undefined;
  if (isAddressed && flags.model === undefined) refuse("openai_base_url without a model", "add --model MODEL");
  if (key !== "" && isAddressed) flags["api-key"] = key;
  else if (key !== "") losses.set("CODEX_API_KEY", "the model's provider gets its own key, see sheaf doctor");
}

function refuse(name: string, advice: string): never {
  throw new SheafError("USAGE", `${name} does not work here: ${advice}`);
}
