/** The import directions of the project, as a function over source texts. */
import { posix } from "node:path";

export interface SourceFile {
  /** Relative to the root of the repository, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** Packages that a package may import (workspace packages and others by name). */
const packageImports: Readonly<Record<string, readonly RegExp[]>> = {
  protocol: [],
  documents: [/^@sheaf\/protocol(\/|$)/],
  client: [/^@sheaf\/protocol(\/|$)/],
  conformance: [/^@sheaf\/protocol(\/|$)/, /^node:(fs|util)$/],
  web: [/^@sheaf\/(client|protocol)(\/|$)/, /^(?!@sheaf\/|sheaf$|node:)/],
  agent: [/^@sheaf\/(protocol|documents)(\/|$)/, /^(?!@sheaf\/|sheaf$)/],
};

/** What a folder of the agent may import from the agent's other folders and files. Ports are single files. */
const ports = ["providers/provider.ts", "tools/tool.ts", "tools/approval.ts", "storage/store.ts", "live/live.ts"];
const agentImports: Readonly<Record<string, readonly string[]>> = {
  "errors.ts": [],
  "version.ts": [],
  "make-folder.ts": [],
  "growing-text.ts": [],
  "read-named-file.ts": [],
  permissions: ["errors.ts", "tools/tool.ts", "network/public-address.ts"],
  workspace: ["errors.ts"],
  config: [
    "errors.ts",
    "make-folder.ts",
    "storage/store.ts",
    "providers/endpoint.ts",
    "tools/nearest-names.ts",
    "workspace/repository.ts",
    "mcp/server-settings.ts",
    "permissions/rule.ts",
  ],
  context: ["errors.ts", "workspace"],
  sandbox: ["errors.ts", "make-folder.ts", "permissions", "workspace", "config", "network/proxy.ts"],
  tools: [
    "errors.ts",
    "permissions",
    "workspace",
    "config",
    "sandbox",
    "providers/provider.ts",
    "network/page.ts",
    "codebase/code-search.ts",
  ],
  network: ["errors.ts", "version.ts", "permissions/host-pattern.ts"],
  codebase: ["errors.ts", "make-folder.ts", "workspace"],
  storage: ["errors.ts", "make-folder.ts"],
  providers: ["errors.ts", "read-named-file.ts"],
  live: ["errors.ts"],
  run: ["errors.ts", "growing-text.ts", "tools/failure.ts", ...ports],
  recording: ["errors.ts", "run", "tools/failure.ts", ...ports],
  conversations: [
    "errors.ts",
    "run",
    "workspace",
    ...ports,
    "tools/conversation-state.ts",
    "storage/busy-error.ts",
    "tools/failure.ts",
  ],
  answers: ["errors.ts", "read-named-file.ts", "run/final-answer.ts"],
  mcp: ["errors.ts", "version.ts", "tools", "sandbox"],
  output: ["errors.ts", "growing-text.ts", "mcp/tool-name.ts"],
  server: [
    "errors.ts",
    "version.ts",
    "conversations",
    "live",
    "output",
    "config",
    "answers",
    "run/budget.ts",
    ...ports,
    "wire.ts",
    "prepare-response.ts",
    "workspace/checkpoints.ts",
    "mcp/server-settings.ts",
  ],
  cli: ["*"],
  "wire.ts": [
    "errors.ts",
    "config",
    "answers",
    "network",
    "codebase",
    "workspace/workspace.ts",
    "run/final-answer.ts",
    "providers",
    "storage",
    "live",
    "permissions",
    "mcp",
  ],
  "prepare-response.ts": ["*"],
  "prepare-policy.ts": ["*"],
  "index.ts": ["*"],
};

/** Modules of Node that only some folders and files of the agent may load, in whatever way. */
const guardedModules: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^node:child_process$/, ["sandbox"]],
  [/^node:(http|https|http2)$/, ["server", "network", "providers/live/http-client.ts"]],
];

const processFolders = new Set(["cli", "config"]);
/** One file a command or driver in the agent; one file a grammar or language in the page. */
const dynamicImportFiles = new Set([
  "packages/agent/src/cli/main.ts",
  "packages/agent/src/wire.ts",
  "packages/web/src/code/load-highlighter.ts",
  "packages/web/src/messages/load-messages.ts",
]);

/** One line per forbidden import or access; empty: the rules are kept. */
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

function removeComments(text: string): string {
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
    return isAgentImportAllowed(path, target) ? [] : [`${path} imports ${posix.join(posix.dirname(path), target)}`];
  });
}

function isPackageAllowed(path: string, packageName: string, target: string): boolean {
  const folder = toAgentFolder(path);
  const file = path.replace("packages/agent/src/", "");
  for (const [pattern, places] of guardedModules) {
    if (pattern.test(target)) return packageName === "agent" && (places.includes(folder) || places.includes(file));
  }
  return (packageImports[packageName] ?? []).some((pattern) => pattern.test(target));
}

/** First part of the path below `packages/agent/src/`. */
function toAgentFolder(path: string): string {
  return path.replace("packages/agent/src/", "").split("/", 1)[0]!;
}

function isAgentImportAllowed(path: string, target: string): boolean {
  const from = toAgentFolder(path);
  const resolved = posix.join(posix.dirname(path), target).replace("packages/agent/src/", "");
  const to = resolved.split("/", 1)[0]!;
  if (from === to) return true;
  const allowed = agentImports[from] ?? [];
  return allowed.some((entry) => entry === "*" || entry === to || entry === resolved);
}

function findForbiddenAccess(path: string, packageName: string, code: string): string[] {
  const violations: string[] = [];
  const mayUseProcess = packageName === "agent" && processFolders.has(toAgentFolder(path));
  const access = /\bprocess\.(env|argv|exit|exitCode|stdin|stdout|stderr|on)\b/.exec(code);
  if (access && !mayUseProcess) violations.push(`${path} uses ${access[0]}`);
  if (/\bimport\("/.test(code) && !dynamicImportFiles.has(path)) violations.push(`${path} uses import()`);
  return violations;
}
