/**
 * Skills and commands: Markdown files of the user, and of a trusted repository (C90, S-146). A skill is a folder with
 * SKILL.md, which the model reads when a task is about it; a command is a file whose text a person sends by its name.
 */
import { realpathSync } from "node:fs";
import { join, posix, relative } from "node:path";
import { readSmallBytesIn } from "@sheaf/base/files/open-file";
import { readNames } from "@sheaf/base/files/open-folder";
import { toLine } from "@sheaf/base/files/read-folder";
import { findRepository } from "@sheaf/base/files/repository";
import { parseFrontMatter } from "./front-matter.ts";

/** A larger file is not read. Bytes. */
const MAX_FILE_BYTES = 256 * 1024;

/** Entries of one folder that are looked at. */
const MAX_ENTRIES = 200;

/** Longest description, by the specification of skills. UTF-16 units. */
const MAX_DESCRIPTION = 1024;

const namePattern = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** A skill or a command that can be used. */
export interface Skill {
  readonly kind: "skill" | "command";
  /** The word that a person types after the slash. */
  readonly name: string;
  /** One line; "" if the file has no description. */
  readonly description: string;
  /** Hint for the words after the name; "" if the file has no hint. */
  readonly argumentHint: string;
  /** True if the model may choose it. */
  readonly isOffered: boolean;
  /** Its owner. */
  readonly source: "user" | "repository";
  /** Absolute. */
  readonly file: string;
  /** Folder of the file; absolute, links resolved. */
  readonly folder: string;
  /** The text without its head. */
  readonly body: string;
  /** Further files of a skill: names below its folder, with `/`. */
  list(): readonly string[];
  /** Reads one of these files; undefined if that fails. */
  read(name: string): Buffer | undefined;
}

/** A file that is not used, and why. */
interface UnusedSkill {
  readonly file: string;
  readonly problem: string;
}

export interface SkillPlaces {
  /** The user's folders; undefined without any. */
  readonly skillFolders: readonly string[] | undefined;
  /** Absolute root, links resolved. */
  readonly workspace: string;
  readonly trusted: boolean;
}

export interface FoundSkills {
  readonly skills: readonly Skill[];
  readonly unused: readonly UnusedSkill[];
}

/** Folders in the root of a repository and in the workspace. Cursor has commands only. */
const repositoryFolders = [".sheaf", ".claude", ".agents", ".cursor"] as const;

interface Reader {
  readonly source: Skill["source"];
  readonly root: string;
  /** Names in a folder, empty if it cannot be read. */
  list(folder: string): readonly string[];
  read(file: string): Buffer | undefined;
  /** Absolute, with the links that are followed resolved. */
  toFolder(folder: string): string;
}

/** Reads the user's skills, then a trusted repository's. If two share a name, the first one applies. */
export function findSkills({ skillFolders, workspace, trusted }: SkillPlaces): FoundSkills {
  const skills = new Map<string, Skill>();
  const unused: UnusedSkill[] = [];
  for (const reader of [...(skillFolders ?? []).map(toUserReader), ...toRepositoryReaders(workspace, trusted)]) {
    for (const [kind, file] of listFiles(reader)) {
      const found = readSkill(reader, kind, file);
      if ("problem" in found) unused.push(found);
      else if (skills.has(found.name)) {
        unused.push({ file: found.file, problem: `${skills.get(found.name)!.file} has the same name` });
      } else skills.set(found.name, found);
    }
  }
  return { skills: [...skills.values()], unused };
}

/** The place where a path of a reader is: from the first part on no link is followed (S-147). */
type FindPlace = (path: string) => readonly [top: string, path: string];

function createReader(source: Skill["source"], root: string, find: FindPlace): Reader {
  return {
    source,
    root,
    toFolder: (folder) => join(...find(folder)),
    list(folder) {
      try {
        return readNames(...find(folder))
          .toSorted()
          .slice(0, MAX_ENTRIES);
      } catch {
        return [];
      }
    },
    read(file) {
      try {
        return readSmallBytesIn(...find(file), MAX_FILE_BYTES);
      } catch {
        return undefined;
      }
    },
  };
}

/**
 * The user's `skills` and `commands`, and each skill, may be links, as some programs for settings make them. The files
 * in a skill may be from others: a link there could point to any secret of the user.
 */
function toUserReader(root: string): Reader {
  return createReader("user", root, (path) => {
    const parts = path.split("/");
    const depth = parts[0] === "skills" ? 2 : 1;
    return [realpathSync(join(root, ...parts.slice(0, depth))), parts.slice(depth).join("/") || "."];
  });
}

function toRepositoryReaders(workspace: string, trusted: boolean): Reader[] {
  if (!trusted) return [];
  const { root } = findRepository(workspace);
  const nearest = relative(root, workspace);
  const places = [...new Set(["", nearest])].flatMap((place) =>
    repositoryFolders.map((folder) => posix.join(place.replaceAll("\\", "/"), folder)),
  );
  return places.map((place) =>
    createReader("repository", join(root, place), (path) => [root, posix.join(place, path)]),
  );
}

function listFiles(reader: Reader): (readonly [Skill["kind"], string])[] {
  const skills = reader.list("skills").map((name) => ["skill", `skills/${name}/SKILL.md`] as const);
  const isText = (name: string): boolean => name.endsWith(".md");
  const commands = reader.list("commands").flatMap((name) => {
    const files = isText(name)
      ? [name]
      : reader
          .list(`commands/${name}`)
          .filter(isText)
          .map((file) => `${name}/${file}`);
    return files.map((file) => ["command", `commands/${file}`] as const);
  });
  // A folder of skills often has other files.
  return [...skills.filter(([, file]) => reader.read(file) !== undefined), ...commands];
}

function readSkill(reader: Reader, kind: Skill["kind"], path: string): Skill | UnusedSkill {
  const file = join(reader.root, path);
  const text = reader.read(path)?.toString();
  if (text === undefined) {
    return { file, problem: `it is not a plain file of at most ${MAX_FILE_BYTES / 1024} kB` };
  }
  const { fields = new Map<string, string>(), body = text } = parseFrontMatter(text) ?? {};
  const folder = posix.dirname(path);
  const name = kind === "skill" ? fields.get("name") || posix.basename(folder) : posix.basename(path, ".md");
  if (!namePattern.test(name)) {
    return {
      file,
      problem: `${JSON.stringify(toLine(name).slice(0, 80))} is not a name: use letters, digits, "_", "." and "-"`,
    };
  }
  const description = toLine(fields.get("description") ?? "").slice(0, MAX_DESCRIPTION);
  if (kind === "skill" && description === "") return { file, problem: "its head has no description" };
  return {
    kind,
    name,
    description,
    argumentHint: toLine(fields.get("argument-hint") ?? "").slice(0, 100),
    isOffered: kind === "skill" && fields.get("disable-model-invocation") !== "true",
    source: reader.source,
    file,
    folder: reader.toFolder(folder),
    body: body.trim(),
    list: () => (kind === "skill" ? listInside(reader, folder) : []),
    read: (inside) => (kind === "skill" && isInside(inside) ? reader.read(`${folder}/${inside}`) : undefined),
  };
}

/** Lists the files of two levels, without the folders themselves. */
function listInside(reader: Reader, folder: string): string[] {
  const names = reader.list(folder).filter((name) => name !== "SKILL.md" && !name.startsWith("."));
  return names
    .flatMap((name) => {
      const inner = reader.list(`${folder}/${name}`);
      return inner.length === 0 ? [name] : inner.map((each) => `${name}/${each}`);
    })
    .slice(0, MAX_ENTRIES);
}

function isInside(name: string): boolean {
  return name !== "" && !posix.isAbsolute(name) && name.split("/").every((part) => part !== ".." && part !== "");
}

/** A prompt that is a command (C91). */
export interface TypedCommand {
  readonly name: string;
  readonly arguments: string;
}

/** Undefined for any other message, such as a path (`/etc/hosts`). */
export function parseTypedCommand(prompt: string): TypedCommand | undefined {
  const match = /^\/([A-Za-z0-9][\w.-]{0,63})(?:\s+([^]*))?$/.exec(prompt.trim());
  return match ? { name: match[1]!, arguments: match[2] ?? "" } : undefined;
}

/** Fills a command with the text after its name: `$ARGUMENTS` is all of that text, `$1` to `$9` are its words. */
export function fillCommand({ body }: Skill, typed: string): string {
  const words = (typed.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^(["'])(.*)\1$/s, "$2"));
  // One pass, so that the typed text is never read as a placeholder.
  return body.replace(/\$(ARGUMENTS\b|[1-9](?!\d))/g, (_, name: string) =>
    name === "ARGUMENTS" ? typed : (words[Number(name) - 1] ?? ""),
  );
}
