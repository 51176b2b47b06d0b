/** The port between configuration and providers: which model, where, with which key. */

/** Wire protocols of real models; each has one decoder in `@sheaf/documents`. */
export type WireProtocol = "openai-responses" | "openai-chat" | "anthropic-messages" | "gemini";

/** A model at a provider, and the credentials for it. */
export interface ProviderIdentity {
  /** For instance `anthropic`, or a name of the configuration. */
  readonly provider: string;
  /** Without a slash at the end; "" if a package knows it. */
  readonly baseUrl: string;
  /** Id of the model at the provider (N7). */
  readonly modelId: string;
  /** Display name (C5). */
  readonly displayName: string;
  /** Undefined if none is needed. Never logged, never part of an error (S-41, S-42). */
  readonly apiKey: string | undefined;
  /** C5. */
  readonly apiKeySource: "env" | "flag" | "login" | "none";
  /** Headers that the user adds (`-H`). */
  readonly headers: Readonly<Record<string, string>>;
  /** `false`: the user's configuration says that the model takes neither images nor PDF (N67). */
  readonly takesImages?: boolean | undefined;
  /** The proxy to use; undefined for none. */
  readonly proxy?: ProxyVariables | undefined;
}

/** Everything that a request needs to know of its provider. */
export interface ProviderEndpoint extends ProviderIdentity {
  readonly protocol: WireProtocol;
}

/** Proxy variables of the user's environment, in one spelling. They can contain a password. */
export interface ProxyVariables {
  readonly HTTP_PROXY?: string;
  readonly HTTPS_PROXY?: string;
  /** Hosts that are reached directly. */
  readonly NO_PROXY: string;
}

/** A package for the AI SDK's `LanguageModel` interface that the user's configuration names. */
export interface PackageSettings {
  /** Name of an npm package, or the path of a file that begins with `.` or `/`. */
  readonly package: string;
  /** The export that makes a provider; undefined for the only one whose name begins with `create`. */
  readonly create?: string | undefined;
  /** Arguments of that export besides key, base URL and headers. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
}

/** A model of such a package. */
export interface PackageEndpoint extends ProviderIdentity {
  readonly settings: PackageSettings;
  /** Folder of the configuration: the package is searched for in its `node_modules`, nowhere else (S-06). */
  readonly folder: string;
  /** Folders that the run may write; absolute. Sheaf loads no package from them (S-224). Default: none. */
  readonly writable?: readonly string[] | undefined;
}

/** How patient a request is. */
export interface RequestLimits {
  /** Milliseconds without a byte after which a stream counts as stalled. */
  readonly silenceMs: number;
  /** Tries in total, including the first. */
  readonly maxTries: number;
  /** True if to wait for a quota that resets later. */
  readonly waitsForQuota: boolean;
}

/** 120 s of silence, ten tries. */
export const defaultRequestLimits: RequestLimits = { silenceMs: 120_000, maxTries: 10, waitsForQuota: false };

/** Time and randomness for live models. */
export interface LivePorts {
  /** Milliseconds since 1970; for times in errors and dates in headers, never to measure a wait. */
  readonly now: () => number;
  /** From 0 to 1, for the jitter of waits. */
  readonly random: () => number;
  /** Calls `run` once after real time; the silence limit is measured with it. Returns a function that stops it. */
  readonly startTimer: (milliseconds: number, run: () => void) => () => void;
  /** Waits for real time, or until the signal, when it may resolve or reject. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Given to a package if the endpoint has no key: without it the package would search the environment for one.
 * Its headers are removed before anything is sent.
 */
export const absentKey = "no-key";
