/** Asks the user to trust contents of a workspace, after showing each: tool servers (S-87), hooks (S-141). */
import { SheafError } from "@sheaf/base/errors";
import { addTrust, removeTrust, type TrustKind, type TrustState } from "@sheaf/agent/config/trust";
import type { Config } from "@sheaf/agent/config/config";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import { toVisibleCharacters } from "@sheaf/agent/tools/approval-question";
import type { FlagValues } from "../flags.ts";
import { choose } from "../interactive/choose.ts";
import type { CommandIo } from "../io.ts";
import { printText } from "../standard-output.ts";

/** Content that the user can trust; an `unusable` one never runs. */
export type Trustable = { readonly name: string } & (
  | {
      readonly state: TrustState;
      readonly digest: string;
      /** Everything that the trust covers, one line each. */ readonly lines: readonly string[];
    }
  | { readonly state: "unusable"; readonly problem: string }
);

type Usable = Exclude<Trustable, { state: "unusable" }>;

/** The kind of content to trust, with its words. */
export interface TrustSubject {
  readonly kind: TrustKind;
  /** Name of the command, without `sheaf`. */
  readonly command: string;
  /** Noun for one content. */
  readonly noun: string;
  /** File or folder that contains them, for messages. */
  readonly source: string;
}

/** Asks about all contents, or only about `names`. @throws SheafError USAGE, CONFIG_INVALID. */
export async function runTrustContents(
  readEntries: () => readonly Trustable[],
  subject: TrustSubject,
  { names, flags, io, config }: TrustRequest,
): Promise<number> {
  const { kind, noun, source } = subject;
  if (flags.remove) {
    const forgotten = removeTrust(kind, names, config);
    if (forgotten.length === 0) return printText(io, `None of these ${kind} was trusted.\n`);
    return printText(io, `Not trusted any more: ${toVisibleLine(forgotten.join(", "))}\n`);
  }
  if (!config.findTrust()) {
    throw new SheafError("USAGE", `the workspace ${config.workspace} is not trusted: trust it first, with sheaf trust`);
  }
  const entries = readEntries();
  const unknown = names.find((name) => !entries.some((entry) => entry.name === name));
  if (unknown !== undefined) {
    const known = entries.length === 0 ? "it names none" : `it names ${entries.map(({ name }) => name).join(", ")}`;
    throw new SheafError("USAGE", `${source} has no ${noun} "${unknown}": ${known}`);
  }
  const chosen = entries.filter(({ name }) => names.length === 0 || names.includes(name));
  if (flags.digest !== undefined) return trustByDigest(chosen, flags.digest, subject, { io, config });
  if (chosen.length === 0) return printText(io, `${source} names no ${kind}.\n`);
  for (const entry of chosen) await offer(entry, subject, io, config);
  return 0;
}

interface TrustRequest {
  readonly names: readonly string[];
  readonly flags: FlagValues;
  readonly io: CommandIo;
  readonly config: Config;
}

async function offer(entry: Trustable, { kind, command }: TrustSubject, io: CommandIo, config: Config): Promise<void> {
  await printText(io, describe(entry));
  if (entry.state === "unusable" || entry.state === "trusted") return;
  if (!io.isInputTerminal || !io.isOutputTerminal) throw createAskError(entry, command);
  const options = [
    { value: "yes", label: "Yes" },
    { value: "no", label: "No" },
  ] as const;
  const answer = await choose({
    message: `Trust ${toVisibleLine(entry.name)}?`,
    options,
    initialValue: "no",
    yes: "yes",
  });
  if (answer === undefined) throw new SheafError("CANCELLED", "cancelled at a question", { source: "user" });
  if (answer === "no") return;
  addTrust(kind, entry, config);
  await printText(io, `Trusted: ${entry.name}\n`);
}

/** Trusts a content by the digest that the user has seen before, for a place without a terminal. */
function trustByDigest(
  [entry, ...others]: readonly Trustable[],
  digest: string,
  { kind, command, noun }: TrustSubject,
  { io, config }: Pick<TrustRequest, "io" | "config">,
): Promise<number> {
  if (!entry || others.length > 0) {
    throw new SheafError("USAGE", `--digest goes with the name of one ${noun}: sheaf ${command} NAME --digest HEX`);
  }
  if (entry.state === "unusable") throw new SheafError("USAGE", `${entry.name} cannot be trusted: ${entry.problem}`);
  if (entry.digest !== digest) {
    const message = `the content of ${entry.name} is not the one of --digest ${digest}: look at it with sheaf ${command}`;
    throw new SheafError("USAGE", message);
  }
  addTrust(kind, entry, config);
  return printText(io, `Trusted: ${entry.name}\n`);
}

function createAskError({ name, digest }: Usable, command: string): SheafError {
  const advice = `run sheaf ${command} in one, or approve the content that you have read: sheaf ${command} ${name} --digest ${digest}`;
  return new SheafError("USAGE", `Sheaf cannot ask without a terminal: ${advice}`);
}

/** Words for each state. */
export const trustWords: Readonly<Record<TrustState, string>> = {
  trusted: "trusted",
  changed: "changed since you trusted it",
  not_trusted: "not trusted",
};

function describe(entry: Trustable): string {
  if (entry.state === "unusable") return toVisibleLine(`${entry.name}: not used (${entry.problem})`) + "\n\n";
  const { name, digest, state, lines } = entry;
  return [
    `${name}: ${trustWords[state]}`,
    ...[...lines, `digest    ${digest}`].map((line) => `  ${line}`),
    "",
    "",
  ].join("\n");
}

/** Quotes a text, so that no part looks like another. */
export function quoteVisible(text: string): string {
  return toVisibleCharacters(JSON.stringify(text));
}
