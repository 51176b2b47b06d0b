/** `sheaf trust [DIR]` manages trusted repositories, whose AGENTS.md instructs the model (S-01, S-02). */
import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { createConfig } from "@sheaf/agent/config/config";
import { changeTrust, readTrust, type TrustedEntry, type TrustList } from "@sheaf/agent/config/trust";
import { SheafError } from "@sheaf/base/errors";
import { toVisibleLine } from "@sheaf/agent/output/visible-text";
import { findRepository, isSameRepository, type Repository } from "@sheaf/base/files/repository";
import type { ParsedArguments } from "../arguments.ts";
import { toCommandFormat } from "../command-flags.ts";
import type { CommandIo } from "../io.ts";
import { printJson, printText } from "../standard-output.ts";

/** Trusts, forgets (`--remove`) or lists (`--list`) repositories. @throws SheafError USAGE, CONFIG_INVALID. */
export async function runTrust(parsed: ParsedArguments, io: CommandIo): Promise<number> {
  const { flags, positionals } = parsed;
  const [folder = flags.workspace?.at(-1), ...rest] = positionals;
  if (rest.length > 0 || (flags.list && (folder !== undefined || flags.remove))) {
    throw new SheafError("USAGE", "trust takes one folder, or --list alone; with --remove it forgets the folder");
  }
  const format = toCommandFormat(parsed);
  if (flags.list) {
    const { repositories } = readTrust(createConfig({}, io.environment, io.cwd).dataFolder);
    return format === "json" ? printJson(io, repositories) : printText(io, formatList(repositories));
  }
  if (flags.remove) return forget(resolve(io.cwd, folder ?? "."), io);
  const { workspace, dataFolder } = createConfig({ workspace: folder }, io.environment, io.cwd);
  const repository = findRepository(workspace);
  if (repository.git === "file" && repository.gitFolder === "") {
    throw new SheafError("USAGE", `${repository.root}/.git names no repository: repair it, or use --trust for one run`);
  }
  changeTrust(dataFolder, (list) => {
    if (list.repositories.some((candidate) => isSameRepository(candidate, repository))) return list;
    const others = list.repositories.filter((candidate) => candidate.root !== repository.root);
    return { ...list, repositories: [...others, repository] };
  });
  return printText(io, `Trusted: ${describe(repository)}\n`);
}

/** Forgets a repository with its tool servers and hooks, even if its folder is gone. */
function forget(folder: string, io: CommandIo): Promise<number> {
  const { dataFolder } = createConfig({}, io.environment, io.cwd);
  const root = existsSync(folder) ? findRepository(realpathSync(folder)).root : folder;
  const isOther = ({ repository }: TrustedEntry): boolean => repository.root !== root;
  const count = (list: TrustList): number => list.repositories.length + list.servers.length + list.hooks.length;
  const { before, after } = changeTrust(dataFolder, ({ repositories, servers, hooks }) => ({
    repositories: repositories.filter((candidate) => candidate.root !== root),
    servers: servers.filter(isOther),
    hooks: hooks.filter(isOther),
  }));
  const was = count(after) < count(before) ? "Not trusted any more" : "Was not trusted";
  return printText(io, `${was}: ${toVisibleLine(root)}\n`);
}

function formatList(trusted: readonly Repository[]): string {
  if (trusted.length === 0) return "No workspace is trusted.\n";
  return trusted.map((repository) => `${describe(repository)}\n`).join("");
}

function describe({ root, git, gitFolder }: Repository): string {
  const kinds: Readonly<Record<Repository["git"], string>> = {
    folder: "a repository",
    file: `a checkout of ${gitFolder}`,
    link: `a checkout of ${gitFolder}`,
    bare: "a bare repository",
    none: "no repository",
  };
  return toVisibleLine(`${root} (${kinds[git]})`);
}
