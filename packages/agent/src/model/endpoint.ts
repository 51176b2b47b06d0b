/** The port between configuration and providers: which model, where, with which key. */
import type { LanguageModelV4 } from "@ai-sdk/provider";

/** Wire protocols of real models; each has one decoder in `@sheaf/documents`. */
export type WireProtocol = "openai-responses" | "openai-chat" | "anthropic-messages" | "gemini";

/** A model at a provider, and who asks. */
export interface ProviderIdentity {
  /** For instance `anthropic`, or a name of the configuration. */
  readonly provider: string;
  /** Without a slash at the end; "" where a package knows it. */
  readonly baseUrl: string;
  /** Id of the model at the provider (N7). */
  readonly modelId: string;
  /** Display name (C5). */
  readonly displayName: string;
  /** Undefined where none is needed. Never logged, never part of an error (S-41, S-42). */
  readonly apiKey: string | undefined;
  /** C5. */
  readonly apiKeySource: "env" | "flag" | "login" | "none";
  /** More headers of the user's (`-H`). */
  readonly headers: Readonly<Record<string, string>>;
  /** Through which proxy the way leads; undefined: there is none. */
  readonly proxy?: ProxyVariables | undefined;
}

/** Everything that a request needs to know of its provider. */
export interface ProviderEndpoint extends ProviderIdentity {
  readonly protocol: WireProtocol;
}

/** What the user's environment says about proxies, in one spelling. A password may be in it. */
export interface ProxyVariables {
  readonly HTTP_PROXY?: string;
  readonly HTTPS_PROXY?: string;
  /** Hosts that are reached without one. */
  readonly NO_PROXY: string;
}

/** A package of the AI SDK's `LanguageModel` interface that the user's configuration names. */
export interface PackageSettings {
  /** Name of an npm package, or the path of a file that begins with `.` or `/`. */
  readonly package: string;
  /** Which of its exports makes a provider; undefined: the only one whose name begins with `create`. */
  readonly create?: string | undefined;
  /** What that export is given, beside key, base URL and headers. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
}

/** A model behind such a package. */
export interface PackageEndpoint extends ProviderIdentity {
  readonly settings: PackageSettings;
  /** Folder of the configuration: the package is looked for in its `node_modules`, nowhere else (S-06). */
  readonly folder: string;
}

/** How patient a request is. */
export interface RequestLimits {
  /** Milliseconds without a byte before the stream counts as stalled. */
  readonly silenceMs: number;
  /** Tries in all, the first one included. */
  readonly maxTries: number;
  /** Whether a quota that resets later is waited for. */
  readonly waitsForQuota: boolean;
}

/** 120 s of silence, ten tries. */
export const defaultRequestLimits: RequestLimits = { silenceMs: 120_000, maxTries: 10, waitsForQuota: false };

/** What a live model takes from outside. */
export interface LivePorts {
  /** Milliseconds since 1970; for the times that errors tell and for dates in headers, never for a wait. */
  readonly now: () => number;
  /** From 0 up to 1, for the jitter of waits. */
  readonly random: () => number;
  /** Calls `run` once when real time has passed; the silence limit counts by it. Gives what stops it. */
  readonly startTimer: (milliseconds: number, run: () => void) => () => void;
  /** Waits for real time to pass, or until the signal; may reject or resolve then. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Makes the request writer of one family of providers. Nothing is sent by it: every request goes to `fetch`.
 * One file of this folder exports one such function, so that only the family that is used is loaded.
 */
export type CreateLanguageModel = (endpoint: ProviderEndpoint, fetch: typeof globalThis.fetch) => LanguageModelV4;

/**
 * Stands where a package wants a key and the endpoint has none: without it the package would look into the environment.
 * Its headers are taken out before anything is sent.
 */
export const absentKey = "no-key";
