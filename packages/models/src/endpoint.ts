/** The port between configuration and providers: a model, its address and its key. */

/** Wire protocols of real models; each has one decoder in `@sheaf/documents`. */
export type WireProtocol = "openai-responses" | "openai-chat" | "anthropic-messages" | "gemini";

/** A model at a provider, and the credentials for it. */
export interface ProviderIdentity {
  /** The provider, such as `anthropic`, or a name of the configuration. */
  readonly provider: string;
  /** Address without a slash at the end; "" if a package knows it. */
  readonly baseUrl: string;
  /** Id of the model at the provider (N7). */
  readonly modelId: string;
  /** Display name (C5). */
  readonly displayName: string;
  /** The key; undefined if the provider needs no key. It is never logged, and never part of an error (S-41, S-42). */
  readonly apiKey: string | undefined;
  /** The place of the key (C5). */
  readonly apiKeySource: "env" | "flag" | "login" | "none";
  /** Headers that the user adds (`-H`). */
  readonly headers: Readonly<Record<string, string>>;
  /** False if the user's configuration denies the model images and PDF (N67). */
  readonly takesImages?: boolean | undefined;
  /** The proxy to use; undefined for none. */
  readonly proxy?: ProxyVariables | undefined;
}

/** The facts about a provider that a request needs. */
export interface ProviderEndpoint extends ProviderIdentity {
  readonly protocol: WireProtocol;
}

/** Proxy variables of the user's environment, in one spelling. They can contain a password. */
export interface ProxyVariables {
  readonly HTTP_PROXY?: string;
  readonly HTTPS_PROXY?: string;
  /** Hosts to reach without the proxy. */
  readonly NO_PROXY: string;
}

/** A package of the user's configuration for the AI SDK's `LanguageModel` interface. */
export interface PackageSettings {
  /** Name of an npm package, or the path of a file that starts with `.` or `/`. */
  readonly package: string;
  /** The export that makes a provider. Undefined for the only export whose name starts with `create`. */
  readonly create?: string | undefined;
  /** Further arguments of that export, apart from key, base URL and headers. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
}

/** A model of such a package. */
export interface PackageEndpoint extends ProviderIdentity {
  readonly settings: PackageSettings;
  /** Folder of the configuration: Sheaf looks for the package in its `node_modules` only (S-06). */
  readonly folder: string;
  /** Folders that the run may write; absolute. Sheaf loads no package from them (S-224). Default: none. */
  readonly writable?: readonly string[] | undefined;
}

/** Patience of a request. */
export interface RequestLimits {
  /** Milliseconds without a byte until a stream is stalled. */
  readonly silenceMs: number;
  /** Tries in total, including the first. */
  readonly maxTries: number;
  /** True to wait for a quota that resets later. */
  readonly waitsForQuota: boolean;
}

/** The default patience: 120 s of silence, ten tries. */
export const defaultRequestLimits: RequestLimits = { silenceMs: 120_000, maxTries: 10, waitsForQuota: false };

/** Time and randomness for live models. */
export interface LivePorts {
  /** Milliseconds since 1970, for times in errors and dates in headers. It never measures a wait. */
  readonly now: () => number;
  /** A number from 0 to 1, for the jitter of waits. */
  readonly random: () => number;
  /** Calls `run` once after a real time, such as the silence limit. Returns a function that stops it. */
  readonly startTimer: (milliseconds: number, run: () => void) => () => void;
  /** Waits for a real time, or until the signal, on which it may resolve or reject. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** Replaces a missing key, for which a package would search the environment. Sheaf removes its headers again. */
export const absentKey = "no-key";
