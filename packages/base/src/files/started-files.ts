/** Files that people ask for, and that a program on the user's machine or a server later starts or obeys (S-245). */
import { toComparablePath } from "./comparable-name.ts";

/** The programs, with the paths at any depth that they start or obey; a folder includes all files in it. */
const starters: readonly (readonly [starter: string, paths: RegExp])[] = [
  ["git starts it as a hook", toPathPattern([
    "\\.husky", "\\.githooks", "\\.pre-commit-config\\.ya?ml", "\\.pre-commit-hooks\\.ya?ml", "\\.overcommit\\.yml",
    "\\.?lefthook(?:-local)?\\.(?:ya?ml|toml|jsonc?)", "\\.lefthook(?:-local)?", "\\.lintstagedrc[^/]*", "lint-staged\\.config\\.[^/]*",
  ])],
  ["CI starts it", toPathPattern([
    "\\.(?:github|gitea|forgejo)/(?:workflows|actions)", "\\.gitlab-ci\\.ya?ml", "\\.gitlab/ci", "\\.circleci", "\\.buildkite",
    "\\.woodpecker(?:\\.ya?ml)?", "\\.(?:travis|drone|cirrus|appveyor)\\.ya?ml", "appveyor\\.yml", "azure-pipelines[^/]*\\.ya?ml",
    "bitbucket-pipelines\\.yml", "jenkinsfile",
  ])],
  ["other agents obey it", toPathPattern([
    "\\.(?:claude|agents|codex|gemini|qwen|kiro|windsurf|roo|amazonq|junie|copilot|continue|factory|clinerules|amp|vibe)",
    "\\.github/(?:agents|prompts|instructions|chatmodes|copilot-instructions\\.md)",
  ])],
]; // prettier-ignore

function toPathPattern(paths: readonly string[]): RegExp {
  return new RegExp(`(?:^|/)(?:${paths.join("|")})(?:/|$)`);
}

/** Returns the reason why a file matters outside the sandbox, such as "CI starts it"; undefined if it doesn't. */
export function findStarter(relative: string): string | undefined {
  const path = toComparablePath(relative);
  return starters.find(([, paths]) => paths.test(path))?.[0];
}

/** Most files in the sentence. */
const maxNamed = 5;

/** Formats the changed files that start later as a sentence, if any. `scripts` are further files that hooks start. */
export function describeStartedFiles(changed: readonly string[], scripts: readonly string[] = []): string | undefined {
  const found = changed.flatMap((path) => {
    const starter = findStarter(path) ?? (scripts.includes(path) ? "a hook of git starts it" : undefined);
    return starter === undefined ? [] : [`${path} (${starter})`];
  });
  if (found.length === 0) return undefined;
  const rest = found.length > maxNamed ? ` and ${found.length - maxNamed} more` : "";
  return `This changed files that start outside the sandbox: ${found.slice(0, maxNamed).join(", ")}${rest}. Name them to the user.`;
}
