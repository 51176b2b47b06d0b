/** The providers that Sheaf knows by name: their addresses and protocols. */
import type { WireProtocol } from "@sheaf/models/endpoint";

/** The adapter that makes the requests. */
export type ModelFamily = "openai" | "anthropic" | "google" | "openai-compatible";

export interface ProviderFacts {
  /** Address without a slash at the end; undefined: `--base-url` sets it, or a package knows it. */
  readonly baseUrl: string | undefined;
  /** Name of its key in the credential file. */
  readonly credential: string;
  /** Variables that may hold its key; the first variable with a value applies. */
  readonly keyVariables: readonly string[];
  /** `required` if its own address needs a key, `optional` if only some servers need one. */
  readonly key: "required" | "optional";
  /** True for a server on this machine. */
  readonly isLocal: boolean;
}

/** A provider by the first part of a model name: `anthropic` in `anthropic/ID`. */
export interface ProviderPreset extends ProviderFacts {
  readonly family: ModelFamily;
  readonly protocol: WireProtocol;
}

/** A key for any model, if no variable of the provider is set. */
export const commonVariable = "SHEAF_API_KEY";

const createLocal = (credential: string, port: number): ProviderPreset => ({
  family: "openai-compatible",
  protocol: "openai-chat",
  baseUrl: `http://127.0.0.1:${port}/v1`,
  credential,
  // No variable: whatever listens on that port would get the key of another server.
  keyVariables: [],
  key: "optional",
  isLocal: true,
});

/** Adapters for endpoints in the configuration. */
export const familyOfProtocol: Readonly<Record<WireProtocol, ModelFamily>> = {
  "openai-responses": "openai",
  "openai-chat": "openai-compatible",
  "anthropic-messages": "anthropic",
  gemini: "google",
};

const createHosted = (
  credential: string,
  protocol: WireProtocol,
  baseUrl: string,
  ...variables: readonly string[]
): ProviderPreset => ({
  family: familyOfProtocol[protocol],
  protocol,
  baseUrl,
  credential,
  keyVariables: [...variables, commonVariable],
  key: "required",
  isLocal: false,
});

const openai = createHosted("openai", "openai-responses", "https://api.openai.com/v1", "OPENAI_API_KEY");

/** Built-in providers by name, in the order of lists. */
export const providerPresets: ReadonlyMap<string, ProviderPreset> = new Map<string, ProviderPreset>([
  ["anthropic", createHosted("anthropic", "anthropic-messages", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY")],
  ["openai", openai],
  ["openai-chat", { ...openai, protocol: "openai-chat" }],
  [
    "google",
    createHosted(
      "google",
      "gemini",
      "https://generativelanguage.googleapis.com/v1beta",
      "GEMINI_API_KEY",
      "GOOGLE_GENERATIVE_AI_API_KEY",
    ),
  ],
  ["openrouter", createHosted("openrouter", "openai-chat", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY")],
  ["ollama", createLocal("ollama", 11_434)],
  ["lmstudio", createLocal("lmstudio", 1234)],
  ["llamacpp", createLocal("llamacpp", 8080)],
  ["vllm", createLocal("vllm", 8000)],
  [
    "openai-compatible",
    {
      family: "openai-compatible",
      protocol: "openai-chat",
      baseUrl: undefined,
      credential: "openai-compatible",
      keyVariables: [commonVariable],
      key: "optional",
      isLocal: false,
    },
  ],
]);
