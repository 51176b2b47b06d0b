/** Words of `cursor-agent` without a use here: flags, ignored with a notice (C45, C47), and commands (C30). */
import type { Notice } from "@sheaf/protocol";
import type { Environment } from "@sheaf/base/paths";
import type { ParsedArguments } from "../../arguments.ts";
import { mapSpellings, parseFlags } from "../../flags.ts";

const local = "the run is in the foreground, on this machine";

/** Flags by spelling. The help explains why no function is lost, or which one replaces it. */
export const cursorFlags = mapSpellings(
  parseFlags({
    "--auto-review": "your rules and the sandbox decide about calls",
    "--browser": "there is no browser to control",
    "-b, --background": local,
    "-c, --cloud": local,
    "--fullscreen": "the terminal is used as it is",
    "--worktree-base <REF>": "a working tree begins at the last commit",
    "--skip-worktree-setup": "no setup runs in a working tree",
    "--plugin-dir <DIR>": "there are no plugins; sheaf mcp add adds tools",
    "-e, --endpoint <URL>": "requests go to the provider of the model",
  }),
);

interface CursorCommand {
  readonly text: string;
  /** True if Sheaf can't do it, which is a usage error; otherwise the command has no effect. */
  readonly isMissing?: true;
}

const update: CursorCommand = {
  text: "Sheaf does not update itself: npm install --global sheaf@latest installs the newest version",
};
const shell: CursorCommand = {
  text: "Sheaf needs no shell integration; sheaf completion prints a script for bash, zsh or fish",
};
const rule: CursorCommand = { text: "Sheaf needs no rule files: what the model must know goes into AGENTS.md" };

const state: CursorCommand = {
  text: "sheaf doctor shows the version, the model and where the keys are",
  isMissing: true,
};

/** Commands that exist only in that program's profile, for its clients (C43). */
export const profileCommands: readonly string[] = ["status", "whoami", "about"];

/** Commands that Sheaf lacks. As a single word, each prints the reason, and isn't a prompt (C30). */
export const cursorCommands: Readonly<Record<string, CursorCommand>> = {
  ...Object.fromEntries(profileCommands.map((name) => [name, state])),
  update,
  upgrade: update,
  "install-shell-integration": shell,
  "uninstall-shell-integration": shell,
  "generate-rule": rule,
  rule,
  persist: { text: "Sheaf stores every session by itself: sheaf --continue goes on with the newest", isMissing: true },
  plugin: { text: "Sheaf has no plugins: sheaf mcp add adds tools", isMissing: true },
  worker: { text: "Sheaf has no worker of a cloud: sheaf serve answers over HTTP", isMissing: true },
  bedrock: { text: "Sheaf names its provider by --model: see sheaf models", isMissing: true },
};

/** Removes a key of Cursor's service, by its shape or by the environment: no other provider may see it (C47). */
export function takeCursorArguments(parsed: ParsedArguments, environment: Environment) {
  const toNotice = (message: string): Notice => ({ code: "FLAG_IGNORED", message });
  const ignored = [...new Set(parsed.foreign ?? [])].map((flag) =>
    toNotice(`${flag} is ignored: ${cursorFlags.get(flag)!.help}`),
  );
  const cursorKey = environment.CURSOR_API_KEY?.trim() ?? "";
  // Compare whole words of a header: clients set the variable to a dummy, which can be part of another word.
  const isCursorKey = (text: string): boolean =>
    text.split(/[\s:]+/).some((word) => /^(key|crsr)_/.test(word) || (word !== "" && word === cursorKey));
  const { "api-key": key = "", header: headers = [], ...others } = parsed.flags;
  const kept = headers.filter((header) => !isCursorKey(header));
  const names = [
    ...(isCursorKey(key) ? ["the key of --api-key"] : []),
    ...(kept.length < headers.length ? ["the key in --header"] : []),
  ];
  if (names.length === 0 && cursorKey === "") return { parsed, notices: ignored };
  const name = names.length === 0 ? "CURSOR_API_KEY" : names.join(" and ");
  const notice = `${name} is Cursor's and is sent to no one: the model's provider gets its own key, see sheaf doctor`;
  const flags = {
    ...others,
    ...(key !== "" && !isCursorKey(key) && { "api-key": key }),
    ...(kept.length > 0 && { header: kept }),
  };
  return { parsed: { ...parsed, flags }, notices: [...ignored, toNotice(notice)] };
}
