/** The import directions of the project, as a function over source texts. */
import { posix } from "node:path";

/** The agent's one line of layers: a folder of `packages/agent/src` imports only from folders to its left. */
const layers = [
  "base",
  "workspace",
  "network",
  "guard",
  "model",
  "store",
  "config",
  "tools",
  "run",
  "recording",
  "output",
  "assemble",
  "server",
  "cli",
] as const;

export interface SourceFile {
  /** Relative to the root of the repository, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** Packages that a package may import (workspace packages and others by name). */
const packageImports: Readonly<Record<string, readonly RegExp[]>> = {
  protocol: [/^@noble\/hashes\//],
  documents: [/^@sheaf\/protocol(\/|$)/],
  client: [/^@sheaf\/protocol(\/|$)/],
  conformance: [/^@sheaf\/protocol(\/|$)/, /^node:(fs|util)$/],
  web: [/^@sheaf\/(client|protocol)(\/|$)/, /^(?!@sheaf\/|sheaf$|node:)/],
  agent: [/^@sheaf\/(protocol|documents)(\/|$)/, /^(?!@sheaf\/|sheaf$)/],
};

/** Modules of Node that only some folders and files of the agent may load, in whatever way. */
const guardedModules: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^node:child_process$/, ["guard/sandbox/", "workspace/trees/run-git.ts"]],
  [
    /^node:worker_threads$/,
    ["base/start-thread.ts", "network/markdown-worker.ts", "run/schema-worker.ts", "store/sqlite-worker.ts"],
  ],
  [/^node:(http|https|http2)$/, ["server/", "network/", "model/live/http-client.ts"]],
];

/** The hooks are the only part of the client that knows a framework. */
const frameworkFiles = new Map([["react", "packages/client/src/react.ts"]]);

const processFolders = ["cli/", "config/"];
/** One file per command or driver in the agent; one file per grammar or language in the page. */
const dynamicImportFiles = new Set([
  "packages/agent/src/cli/command-line.ts",
  "packages/agent/src/cli/prompt-run.ts",
  "packages/agent/src/assemble/wire.ts",
  "packages/agent/src/assemble/wire-models.ts",
  "packages/agent/src/assemble/wire-servers.ts",
  "packages/agent/src/assemble/wire-stores.ts",
  "packages/agent/src/config/model-prices.ts",
  "packages/web/src/code/load-highlighter.ts",
  "packages/web/src/messages/load-messages.ts",
  "packages/web/src/math/load-math.ts",
]);

/** One line per forbidden import or access; empty: every rule is kept. */
export function findViolations(sources: readonly SourceFile[]): string[] {
  return sources.flatMap((source) => {
    const code = removeComments(source.text);
    const [, packageName = ""] = source.path.split("/");
    return [
      ...findForbiddenImports(source.path, packageName, code),
      ...findForbiddenAccess(source.path, packageName, code),
    ];
  });
}

export function removeComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/(^|\s)\/\/.*$/gm, "$1");
}

function readImports(code: string): string[] {
  const pattern =
    /(?:^|\n)\s*(?:import|export)\s(?:[^"';]*?\sfrom\s)?"([^"]+)"|\b(?:import|require|getBuiltinModule)\("([^"]+)"\)/g;
  return [...code.matchAll(pattern)].map(([, first, second]) => (first ?? second)!);
}

function findForbiddenImports(path: string, packageName: string, code: string): string[] {
  return readImports(code).flatMap((target) => {
    if (!target.startsWith("."))
      return isPackageAllowed(path, packageName, target) ? [] : [`${path} imports ${target}`];
    if (packageName !== "agent") return [];
    const resolved = posix.join(posix.dirname(path), target);
    return isDownward(path, resolved) ? [] : [`${path} imports ${resolved}`];
  });
}

function isPackageAllowed(path: string, packageName: string, target: string): boolean {
  for (const [pattern, places] of guardedModules) {
    if (pattern.test(target)) return packageName === "agent" && isIn(places, path);
  }
  if (packageName === "client" && frameworkFiles.has(target)) return frameworkFiles.get(target) === path;
  return (packageImports[packageName] ?? []).some((pattern) => pattern.test(target));
}

/** The entry of the package, `index.ts`, has no layer: it exports what programs use, and nothing imports it. */
function isDownward(path: string, target: string): boolean {
  if (toAgentPath(path) === "index.ts") return true;
  const to = toLayer(target);
  return to >= 0 && to <= toLayer(path);
}

function toLayer(path: string): number {
  return layers.findIndex((layer) => toAgentPath(path).startsWith(`${layer}/`));
}

function toAgentPath(path: string): string {
  return path.replace("packages/agent/src/", "");
}

function isIn(places: readonly string[], path: string): boolean {
  return places.some((place) => toAgentPath(path).startsWith(place));
}

function findForbiddenAccess(path: string, packageName: string, code: string): string[] {
  const violations: string[] = [];
  const mayUseProcess = packageName === "agent" && isIn(processFolders, path);
  const access = /\bprocess\.(env|argv|exit|exitCode|stdin|stdout|stderr|on)\b/.exec(code);
  if (access && !mayUseProcess) violations.push(`${path} uses ${access[0]}`);
  if (/\bimport\("/.test(code) && !dynamicImportFiles.has(path)) violations.push(`${path} uses import()`);
  return violations;
}
