/** What programs pass to `cursor-agent` that has no use here: accepted in its profile, with a notice (C45, C47). */
import type { Environment } from "../base/paths.ts";
import type { ParsedArguments } from "./arguments.ts";

interface ForeignFlag {
  readonly kind: "switch" | "value" | "optional";
  /** Why nothing is lost, or what happens instead. */
  readonly reason: string;
}

const local = "the run is in the foreground, on this machine";

/** By spelling. */
const foreignFlags: Readonly<Record<string, ForeignFlag>> = {
  "--auto-review": { kind: "switch", reason: "your rules and the sandbox decide about calls" },
  "--browser": { kind: "switch", reason: "there is no browser to control" },
  "--background": { kind: "switch", reason: local },
  "-b": { kind: "switch", reason: local },
  "--cloud": { kind: "switch", reason: local },
  "-c": { kind: "switch", reason: local },
  "--fullscreen": { kind: "switch", reason: "the terminal is used as it is" },
  "--worktree-base": { kind: "value", reason: "a working tree begins at the last commit" },
  "--skip-worktree-setup": { kind: "switch", reason: "no setup runs in a working tree" },
  "--plugin-dir": { kind: "value", reason: "there are no plugins; sheaf mcp add adds tools" },
  "--endpoint": { kind: "value", reason: "requests go to the provider of the model" },
  "-e": { kind: "value", reason: "requests go to the provider of the model" },
};

/** A flag of that program alone; undefined: it is none. */
export function findForeignFlag(spelling: string): ForeignFlag | undefined {
  return Object.hasOwn(foreignFlags, spelling) ? foreignFlags[spelling] : undefined;
}

/** Without what has no use here, and what the user must know about it. */
export interface CursorArguments {
  readonly parsed: ParsedArguments;
  readonly notices: readonly string[];
}

/** A key of Cursor's service, which no other provider may see: by its shape, or because the environment calls it so (C47). */
export function takeCursorArguments(parsed: ParsedArguments, environment: Environment): CursorArguments {
  const ignored = [...new Set(parsed.foreign ?? [])].map(
    (flag) => `${flag} is ignored: ${findForeignFlag(flag)!.reason}`,
  );
  const cursorKey = environment.CURSOR_API_KEY?.trim() ?? "";
  // Of a header, each word: `Authorization: Bearer KEY`. Part of a word says nothing: clients set the variable to a dummy.
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
  return { parsed: { ...parsed, flags }, notices: [...ignored, notice] };
}
