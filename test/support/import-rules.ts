/** The import directions of the project, as a function over source texts. */
import { posix } from "node:path";

/** The rooms, folders of `packages/`, and the rooms that each may import. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  documents: ["protocol"],
  client: ["protocol"],
  conformance: ["protocol"],
  base: ["protocol"],
  models: ["protocol", "documents", "base"],
  store: ["protocol", "base"],
  permissions: ["protocol", "base"],
  sandbox: ["protocol", "base"],
  agent: ["protocol", "documents", "base", "models", "store", "permissions", "sandbox"],
  server: ["protocol", "documents", "base", "models", "store", "permissions", "sandbox", "agent"],
  cli: ["protocol", "documents", "base", "models", "store", "permissions", "sandbox", "agent", "server"],
  web: ["protocol", "client"],
};

/** The agent's one line of layers: a folder of `packages/agent/src` imports only from folders to its left. */
const layers = ["workspace", "network", "config", "tools", "run", "output", "assemble"] as const;

export interface SourceFile {
  /** Relative to the root of the repository, with `/`. */
  readonly path: string;
  readonly text: string;
}

const anyPackage = /^(?!@sheaf\/|sheaf$)/;

/** Packages that a room may import beside other rooms; the rooms of the program may import all. */
const packageImports: Readonly<Record<string, readonly RegExp[]>> = {
  protocol: [/^@noble\/hashes\//],
  documents: [],
  client: [],
  conformance: [/^node:(fs|util)$/],
  web: [/^(?!@sheaf\/|sheaf$|node:)/],
};

/** Modules of Node that only some folders and files may load, in whatever way. */
const guardedModules: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^node:child_process$/, ["sandbox/src/", "base/src/git/run-git.ts", "base/src/start-thread.ts"]],
  [
    /^node:worker_threads$/,
    [
      "base/src/start-thread.ts",
      "agent/src/network/markdown-worker.ts",
      "agent/src/run/schema-worker.ts",
      "store/src/sqlite-worker.ts",
    ],
  ],
  [
    /^node:(http|https|http2)$/,
    ["server/src/", "agent/src/network/", "sandbox/src/launch/proxy.ts", "models/src/live/http-client.ts"],
  ],
];

/** The hooks are the only part of the client that knows a framework. */
const frameworkFiles = new Map([["react", "packages/client/src/react.ts"]]);

const processFolders = ["cli/src/", "agent/src/config/", "agent/src/assemble/response-process.ts"];
/** One file per command or driver in the agent; one file per grammar or language in the page. */
const dynamicImportFiles = new Set([
  "packages/cli/src/command-line.ts",
  "packages/cli/src/prompt-run.ts",
  "packages/agent/src/assemble/wire.ts",
  "packages/agent/src/assemble/wire-models.ts",
  "packages/agent/src/assemble/wire-servers.ts",
  "packages/agent/src/assemble/wire-stores.ts",
  "packages/agent/src/config/model-prices.ts",
  "packages/models/src/live/language-models.ts",
  "packages/web/src/code/load-highlighter.ts",
  "packages/web/src/messages/load-messages.ts",
  "packages/web/src/math/load-math.ts",
]);

/** One line per forbidden import or access; empty: every rule is kept. */
export function findViolations(sources: readonly SourceFile[]): string[] {
  return sources.flatMap((source) => {
    const code = removeComments(source.text);
    const [, room = ""] = source.path.split("/");
    return [...findForbiddenImports(source.path, room, code), ...findForbiddenAccess(source.path, code)];
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

function findForbiddenImports(path: string, room: string, code: string): string[] {
  return readImports(code).flatMap((target) => {
    if (!target.startsWith(".")) return isPackageAllowed(path, room, target) ? [] : [`${path} imports ${target}`];
    if (room !== "agent") return [];
    const resolved = posix.join(posix.dirname(path), target);
    return isDownward(path, resolved) ? [] : [`${path} imports ${resolved}`];
  });
}

function isPackageAllowed(path: string, room: string, target: string): boolean {
  for (const [pattern, places] of guardedModules) {
    if (pattern.test(target)) return isIn(places, path);
  }
  if (room === "client" && frameworkFiles.has(target)) return frameworkFiles.get(target) === path;
  const [, other] = /^@sheaf\/([^/]+)/.exec(target) ?? [];
  if (other !== undefined) return (rooms[room] ?? []).includes(other);
  return (packageImports[room] ?? [anyPackage]).some((pattern) => pattern.test(target));
}

/** The entry of the agent, `index.ts`, has no layer: it exports what programs use, and nothing in the room imports it. */
function isDownward(path: string, target: string): boolean {
  if (path === "packages/agent/src/index.ts") return true;
  const to = toLayer(target);
  return to >= 0 && to <= toLayer(path);
}

function toLayer(path: string): number {
  return layers.findIndex((layer) => path.startsWith(`packages/agent/src/${layer}/`));
}

function isIn(places: readonly string[], path: string): boolean {
  return places.some((place) => path.startsWith(`packages/${place}`));
}

function findForbiddenAccess(path: string, code: string): string[] {
  const violations: string[] = [];
  const access = /\bprocess\.(env|argv|exit|exitCode|stdin|stdout|stderr|on)\b/.exec(code);
  if (access && !isIn(processFolders, path)) violations.push(`${path} uses ${access[0]}`);
  if (/\bimport\("/.test(code) && !dynamicImportFiles.has(path)) violations.push(`${path} uses import()`);
  return violations;
}
