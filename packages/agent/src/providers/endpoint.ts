/** The port between configuration and providers: which model, where, with which key. */

/** Wire protocols of real models; each has one decoder in `@sheaf/documents`. */
export type WireProtocol = "openai-responses" | "openai-chat" | "anthropic-messages" | "gemini";

/** Everything that a request needs to know of its provider. */
export interface ProviderEndpoint {
  /** For instance `anthropic`, or the name of an endpoint in the configuration. */
  readonly provider: string;
  readonly protocol: WireProtocol;
  /** Without a slash at the end. */
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
