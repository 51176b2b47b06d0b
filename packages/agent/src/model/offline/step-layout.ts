/** The explanation of a project: its folder, its README, its manifest. */
import { formatFailure } from "./failure.ts";
import { parseTree, toTopFiles, toTopFolders, type TreeEntry } from "./folder-tree.ts";
import { toCode } from "./phrases/format-number.ts";
import type { Phrases } from "./phrases/phrases.ts";
import { parseReadOutput } from "./read-output.ts";
import { argumentOf, lastOutcomeOf, listCall, outcomesOf, readCall, toAnswer, toCalls, type Step } from "./step.ts";
import { folderRoles } from "./step-plan.ts";
import { createDigest } from "./summary/create-digest.ts";
import type { Digest } from "./summary/digest.ts";
import type { Task } from "./task.ts";

const manifests = ["package.json", "pyproject.toml", "Cargo.toml", "go.mod"];
const shownEntries = 30;
const shownScripts = 10;

/** Lists the folder; then reads README and manifest side by side when they are there; then answers. */
export function toLayoutStep(task: Task, folder: string, phrases: Phrases): Step {
  const listed = lastOutcomeOf(task, "list_dir");
  if (!listed) return toCalls(phrases.announce("list", folder), listCall(folder));
  if (listed.isError) return toAnswer(`${phrases.introduction}\n\n${formatFailure(phrases, "list", folder, listed)}`);
  const entries = parseTree(listed.output);
  if (entries.length === 0) return toAnswer(`${phrases.introduction}\n\n${phrases.emptyFolder(folder)}`);
  const files = toTopFiles(entries);
  const wanted = [
    files.find((path) => /^readme(?:\.|$)/i.test(path)),
    ...manifests.filter((name) => files.includes(name)).slice(0, 1),
  ]
    .filter((path) => path !== undefined)
    .map((path) => (folder === "." ? path : `${folder.replace(/\/$/, "")}/${path}`));
  const reads = outcomesOf(task, "read_file");
  if (wanted.length > 0 && reads.length === 0) {
    return toCalls(phrases.announce("read", phrases.list(wanted)), ...wanted.map((path) => readCall(path)));
  }
  const digests = reads
    .filter(({ isError }) => !isError)
    .map((read) => {
      const path = argumentOf(read, "target_file");
      return { path, digest: createDigest(parseReadOutput(read).text, path) };
    });
  const failures = reads
    .filter(({ isError }) => isError)
    .map((read) => formatFailure(phrases, "read", argumentOf(read, "target_file"), read));
  return toAnswer([phrases.introduction, ...formatLayout(folder, entries, digests, phrases), ...failures].join("\n\n"));
}

interface ReadDigest {
  readonly path: string;
  readonly digest: Digest;
}

function formatLayout(
  folder: string,
  entries: readonly TreeEntry[],
  digests: readonly ReadDigest[],
  phrases: Phrases,
): string[] {
  const readme = digests.find(({ path }) => /readme/i.test(path))?.digest;
  const manifest = digests.find(({ path }) => !/readme/i.test(path));
  const parts: string[] = [];
  const title = readme?.title ?? manifest?.digest.title;
  if (title !== undefined) parts.push(`**${title}**`);
  const purpose = readme && readme.purpose.length > 0 ? readme.purpose : (manifest?.digest.purpose ?? []);
  if (purpose.length > 0) parts.push(`## ${phrases.labels.purpose}\n\n${purpose.join("\n\n")}`);
  const folders = toTopFolders(entries);
  if (folders.length > 0) parts.push(`## ${phrases.labels.folders}\n\n${formatFolders(folders, entries, phrases)}`);
  const files = toTopFiles(entries);
  if (files.length > 0) {
    const shown = files.slice(0, shownEntries).map(toCode);
    if (files.length > shownEntries) shown.push(phrases.more(files.length - shownEntries));
    parts.push(`## ${phrases.labels.files}\n\n${shown.join(phrases.separator)}`);
  }
  const scripts = manifest?.digest.sections.find(({ label }) => label === "scripts");
  if (scripts) {
    const lines = scripts.entries
      .slice(0, shownScripts)
      .map(({ text, note }) => `- ${toCode(text)}${note === undefined ? "" : `: ${toCode(note)}`}`);
    parts.push(`## ${phrases.labels.scripts} (${toCode(manifest?.path ?? "")})\n\n${lines.join("\n")}`);
  }
  if (parts.length === 0) parts.push(phrases.folderContents(folder, folders.length, files.length));
  return parts;
}

/** Each folder with what its name says of it, and how many files the listing shows in it. */
function formatFolders(folders: readonly string[], entries: readonly TreeEntry[], phrases: Phrases): string {
  const lines = folders.slice(0, shownEntries).map((folder) => {
    const inside = entries.filter(({ path, isFolder }) => !isFolder && path.startsWith(`${folder}/`)).length;
    const role = folderRoles.get(folder.toLowerCase());
    const notes = [
      ...(role === undefined ? [] : [phrases.roles[role]]),
      ...(inside > 0 ? [phrases.count(inside, "files")] : []),
    ];
    return `- ${toCode(`${folder}/`)}${notes.length > 0 ? `: ${notes.join(phrases.separator)}` : ""}`;
  });
  if (folders.length > shownEntries) lines.push(`- ${phrases.more(folders.length - shownEntries)}`);
  return lines.join("\n");
}
