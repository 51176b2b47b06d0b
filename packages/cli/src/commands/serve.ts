/** `sheaf serve`: the Chat API, until a signal ends it. */
import { once } from "node:events";
import { existsSync, realpathSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { findUserConfig } from "@sheaf/agent/config/config-file";
import { createKnownMask } from "@sheaf/agent/config/known-secrets";
import { createConfig, type Config } from "@sheaf/agent/config/config";
import { makeFolder } from "@sheaf/base/make-folder";
import { toUserFiles } from "@sheaf/base/paths";
import { ensureServerToken, readTokenFile, watchTokenFile, type ServerToken } from "@sheaf/agent/config/server-tokens";
import { createGitWorkspace, isGitAddress, type GitWorkspace } from "@sheaf/agent/config/git-workspaces";
import { isTrusted } from "@sheaf/agent/config/trust";
import { SheafError } from "@sheaf/base/errors";
import { toAddedFolders } from "@sheaf/sandbox/hold/writable-folders";
import { createClientFinder } from "@sheaf/server/client-of";
import { defaultOwnerLimits, type OwnerLimits } from "@sheaf/server/limits";
import { isLoopback } from "@sheaf/base/host-pattern";
import type { Log } from "@sheaf/server/metrics";
import { toGitRoot } from "@sheaf/server/git-trees";
import { hideServerSecrets } from "@sheaf/server/hide-server-secrets";
import { toJwtSettings } from "@sheaf/server/jwt-users";
import { serve, type ServeOptions } from "@sheaf/server/serve";
import type { AttachmentSettings } from "@sheaf/server/stored-attachments";
import { createServerModels } from "@sheaf/server/server-models";
import { toVisibleJson, toVisibleLine } from "@sheaf/agent/output/visible-text";
import { isPostgresAddress, localOwner } from "@sheaf/store/store";
import { createModels } from "@sheaf/agent/assemble/wire-models";
import { createServerStore } from "@sheaf/agent/assemble/wire-stores";
import { now, openTelemetry } from "@sheaf/agent/assemble/wire";
import type { ParsedArguments } from "../arguments.ts";
import { readNumberFlag } from "../command-flags.ts";
import type { FlagName, FlagValues } from "../flags.ts";
import type { CommandIo } from "../io.ts";
import { toRawSettings } from "../run-config.ts";
import type { RunControl } from "../signals.ts";
import { toStorePlace } from "../session-store.ts";

const DEFAULT_PORT = 7433;

/** Default time for runs to end after the signal, in seconds. */
const DEFAULT_GRACE = 10;

const unhidden = "without a sandbox, commands can read the tokens of the server and the files of other conversations";

const MIB = 1024 * 1024;
const HOUR_MS = 60 * 60 * 1000;

/** Milliseconds between heartbeats of a stream (X5). */
const HEARTBEAT_MS = 15_000;

/**
 * Serves until the first signal; returns 0 after everything has ended. `route`: a slash and the conversation that
 * `--open` opens. @throws SheafError USAGE, CONFIG_INVALID.
 */
export async function runServe(
  parsed: ParsedArguments,
  io: CommandIo,
  control: RunControl,
  route = "",
): Promise<number> {
  const log: Log = (entry) =>
    io.writeError(toVisibleJson(`${JSON.stringify({ time: new Date(now()).toISOString(), ...entry })}\n`));
  const { flags } = parsed;
  const grace = readNumberFlag("grace", flags.grace, [0, 999_999], "a whole number of seconds") ?? DEFAULT_GRACE;
  const { storePlace, tokenFile, ...options } = createServeOptions(parsed, io, log);
  const store = await createServerStore(storePlace);
  const telemetry = await openTelemetry(io.environment, { hasParent: false });
  const server = await serve({ ...options, store, telemetry, isApart: true });
  const watch =
    flags["token-file"] === undefined
      ? undefined
      : watchTokenFile(
          tokenFile,
          (changed) => server.replaceTokens(changed),
          ({ code, message }) => log({ level: "error", event: "tokens_kept", code, message }),
        );
  const path = flags.open ? `${server.createTicketPath(options.tokens[0]!.owner)}${route}` : "";
  await io.openOutput().write(`Sheaf listens on ${server.address}${path} (token: ${toVisibleLine(tokenFile)})\n`);
  // Report a wrong name or a missing key to the operator now, instead of to the first client.
  for (const name of options.models.names) void options.models.open(name);
  if (!control.signal.aborted) await once(control.signal, "abort");
  watch?.end();
  await server.close(grace * 1000);
  await store.close();
  return 0;
}

/** Everything that a server needs except its store, which the caller opens. */
interface ServePlan extends Omit<ServeOptions, "store" | "telemetry"> {
  /** Path of a file, or address of a PostgreSQL database. */
  readonly storePlace: string;
  readonly tokenFile: string;
}

/** Returns the options from flags, environment and the user's files. @throws SheafError USAGE, CONFIG_INVALID. */
export function createServeOptions(parsed: ParsedArguments, io: CommandIo, log: Log): ServePlan {
  const { flags } = parsed;
  const host = flags.host ?? "127.0.0.1";
  const port = readNumberFlag("port", flags.port, [0, 65_535], "a port: use 0 (any free one) to 65535") ?? DEFAULT_PORT;
  const folders = toWorkspaces(flags, io);
  const words = [...folders.values()];
  const configOf = createConfigReader(
    flags,
    io,
    words.filter((word) => !isGitAddress(word)),
  );
  const config = configOf(undefined);
  const { workspaces, gitWorkspaces, trees } = toServedWorkspaces(folders, config, flags, io);
  const { addedFolders } = config;
  const plain = new Map([...folders].filter(([, word]) => !isGitAddress(word)));
  // Report a wrong folder now, instead of to the first client.
  for (const workspace of plain.values())
    toAddedFolders({ folders: addedFolders, workspace, environment: io.environment });
  const modelNames = toModelNames(flags, config);
  const { tokens, tokenFile } = toTokens(flags, host, config, io);
  const hiddenPlaces = hideServerSecrets({
    folders: plain,
    addedFolders,
    tokenFile: flags["token-file"] === undefined ? undefined : tokenFile,
    dataFolder: config.dataFolder,
    trees,
    gitWorkspaces,
    gitSettings: config.gitWorkspaces,
    environment: io.environment,
  });
  if (config.sandbox !== "enabled") log({ level: "warn", event: "secrets_not_hidden", problem: unhidden });
  const storePlace = toStorePlace(flags, io, config.storeFile);
  return {
    storePlace,
    tokenFile,
    settings: {
      ...config,
      workspaces,
      gitWorkspaces,
      hiddenPlaces,
      defaultMode: config.mode,
      onNodeLoss: toNodeLoss(flags, storePlace),
      isTrusted: (workspace) =>
        isTrusted(workspace, {
          flag: flags.trust ?? false,
          environment: io.environment,
          dataFolder: config.dataFolder,
        }),
      environment: io.environment,
      wire: { heartbeatMs: config.heartbeatMs ?? HEARTBEAT_MS, mask: createKnownMask(io.environment) },
    },
    models: createServerModels(modelNames, {
      async create(name) {
        const { chooseModel, chooseFallbacks, findPrices, windowTokens } = configOf(name);
        const [choice, fallbacks, prices] = [chooseModel(), chooseFallbacks(), await findPrices(now())];
        return { model: await createModels(choice, fallbacks, prices), price: prices.get(name), windowTokens };
      },
      findWindow: (name) => configOf(name).windowTokens,
      onUnusable: (model, { code, message }) => log({ level: "warn", event: "model_unusable", model, code, message }),
    }),
    ownerLimits: toOwnerLimits(flags),
    // Days until deletion.
    keepDays: readNumberFlag("keep-days", flags["keep-days"], [1, 99_999], "a whole number of days from 1 to 99999"),
    // The page is next to this program's folder in the package.
    pageFolder: join(import.meta.dirname, "../web"),
    tokens,
    jwt: toJwtSettings(flags["jwt-issuer"], flags["jwt-audience"], flags.jwks),
    host,
    port,
    allowedHosts: flags["allow-host"] ?? [],
    findClient: createClientFinder(flags["trust-proxy"] ?? []),
    allowedOrigins: toOrigins(flags["allow-origin"]),
    now,
    log,
  };
}

/** Returns the models, the default one first. @throws SheafError AUTH_REQUIRED without any, as every run does. */
function toModelNames({ offer = [] }: FlagValues, { model, chooseModel }: Config): readonly string[] {
  const names = new Set(model === undefined ? offer : [model, ...offer]);
  if (names.size === 0) chooseModel();
  return [...names];
}

/** Returns a function that makes the settings for a model by its name; undefined: the default model. */
function createConfigReader(
  flags: FlagValues,
  io: CommandIo,
  [workspace = io.cwd, ...otherWorkspaces]: readonly string[],
): (model: string | undefined) => Config {
  const found = findUserConfig(toUserFiles(io.environment).config);
  const raw = { ...toRawSettings(flags), workspace, otherWorkspaces };
  return (model) => createConfig(model === undefined ? raw : { ...raw, model }, io.environment, io.cwd, found);
}

/** Reads `--workspace DIR` and `--workspace NAME=DIR`; default: the folder in which Sheaf started. */
function toWorkspaces({ workspace = ["."] }: FlagValues, io: CommandIo): ReadonlyMap<string, string> {
  const roots = new Map<string, string>();
  for (const word of workspace) {
    const [, name, folder = word] = /^([A-Za-z0-9][A-Za-z0-9._-]*)=(.+)$/s.exec(word) ?? [];
    if (isGitAddress(folder) && name === undefined) {
      throw new SheafError("USAGE", "a workspace from git needs a name: write --workspace NAME=git+https://…");
    }
    const [, odd] = /^([^/=]+)=/.exec(name === undefined ? word : "") ?? [];
    if (odd !== undefined && !existsSync(resolve(io.cwd, word))) {
      const rule = "use letters, digits and . _ - in NAME=DIR";
      throw new SheafError("USAGE", `--workspace ${word}: "${odd}" cannot be the name of a workspace: ${rule}`);
    }
    const root = isGitAddress(folder) ? folder : createConfig({ workspace: folder }, io.environment, io.cwd).workspace;
    const key = name ?? (basename(root) || "root");
    if (roots.has(key)) throw new SheafError("USAGE", `two workspaces are named "${key}": write --workspace NAME=DIR`);
    roots.set(key, isGitAddress(root) ? root : realpathSync(root));
  }
  return roots;
}

/** Returns the workspaces, with the folders for those from git. @throws SheafError USAGE, CONFIG_INVALID. */
function toServedWorkspaces(
  words: ReadonlyMap<string, string>,
  { dataFolder, gitWorkspaces: settings }: Config,
  flags: FlagValues,
  { environment, cwd }: CommandIo,
) {
  const folder = resolve(cwd, flags.trees ?? join(dataFolder, "workspaces"));
  const isUsed = [...words.values()].some(isGitAddress);
  if (isUsed) makeFolder(folder);
  const real = isUsed ? realpathSync(folder) : folder;
  const workspaces = new Map<string, string>();
  const gitWorkspaces: GitWorkspace[] = [];
  for (const [name, word] of words) {
    if (!isGitAddress(word)) {
      workspaces.set(name, word);
      continue;
    }
    const own = settings[name] ?? {};
    const workspace = createGitWorkspace({ name, word, settings: own, folder: real, environment });
    gitWorkspaces.push(workspace);
    workspaces.set(name, toGitRoot(workspace));
  }
  return { workspaces, gitWorkspaces, trees: real };
}

/** Reads `--on-node-loss`. @throws SheafError USAGE. */
function toNodeLoss({ "on-node-loss": choice = "end" }: FlagValues, storePlace: string): "end" | "resume" {
  if (choice === "end") return "end";
  if (choice !== "resume") throw new SheafError("USAGE", `--on-node-loss "${choice}" is not known: use end or resume`);
  if (isPostgresAddress(storePlace)) return "resume";
  throw new SheafError("USAGE", "--on-node-loss resume needs a database that servers share: give --store postgres://…");
}

/** Reads or creates the tokens (S-51, S-56). @throws SheafError USAGE. */
function toTokens(
  flags: FlagValues,
  host: string,
  { dataFolder }: Config,
  { cwd }: CommandIo,
): { readonly tokens: readonly ServerToken[]; readonly tokenFile: string } {
  const given = flags["token-file"];
  if (given !== undefined) {
    const tokenFile = resolve(cwd, given);
    return { tokens: readTokenFile(tokenFile), tokenFile };
  }
  if (!isLoopback(host) && !flags["insecure-listen"] && flags["jwt-issuer"] === undefined) {
    throw new SheafError(
      "USAGE",
      `--host ${host} lets other machines in: add --token-file FILE, or --insecure-listen to share your own token (sheaf help serve)`,
    );
  }
  const tokenFile = join(dataFolder, "server-token");
  return { tokens: [{ token: ensureServerToken(tokenFile), owner: localOwner }], tokenFile };
}

/** Reads `--allow-origin` (X24). @throws SheafError USAGE. */
function toOrigins(words: readonly string[] = []): ReadonlySet<string> {
  for (const word of words) {
    if (/^https?:$/.test(URL.parse(word)?.protocol ?? "") && URL.parse(word)?.origin === word) continue;
    const example = "https://app.example.org or http://localhost:3000";
    throw new SheafError("USAGE", `--allow-origin "${word}" is not an origin: write one such as ${example}`);
  }
  return new Set(words);
}

/** Reads the limits of each owner (S-55). @throws SheafError USAGE. */
function toOwnerLimits(flags: FlagValues): OwnerLimits {
  const read = (name: LimitFlag): number | undefined =>
    readNumberFlag(name, flags[name], [1, 999_999_999], "a whole number above 0");
  const cost = flags["max-cost-usd-per-day"];
  if (cost !== undefined && !(Number(cost) > 0)) {
    throw new SheafError("USAGE", `--max-cost-usd-per-day "${cost}" is not a number above 0`);
  }
  return {
    running: read("max-running") ?? defaultOwnerLimits.running,
    waiting: read("max-waiting") ?? defaultOwnerLimits.waiting,
    streams: read("max-streams") ?? defaultOwnerLimits.streams,
    conversations: read("max-conversations") ?? defaultOwnerLimits.conversations,
    turnsPerDay: read("max-turns-per-day"),
    costUsdPerDay: cost === undefined ? undefined : Number(cost),
    attachments: toAttachmentSettings(flags),
  };
}

type LimitFlag = Extract<FlagName, `max-${string}` | "attachment-hours">;

/** Reads the limits of attachments (S-200). @throws SheafError USAGE. */
function toAttachmentSettings(flags: FlagValues): AttachmentSettings {
  const { fileBytes, count, bytes, keptMs } = defaultOwnerLimits.attachments;
  const read = (name: LimitFlag, most: number): number | undefined => readNumberFlag(name, flags[name], [1, most]);
  return {
    fileBytes: (read("max-attachment-mib", fileBytes / MIB) ?? fileBytes / MIB) * MIB,
    count: read("max-attachments", 100_000) ?? count,
    bytes: (read("max-attachments-mib", 1_000_000) ?? bytes / MIB) * MIB,
    keptMs: (read("attachment-hours", 8760) ?? keptMs / HOUR_MS) * HOUR_MS,
  };
}
