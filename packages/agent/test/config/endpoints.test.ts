import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { UserConfig } from "../../src/config/user-config.ts";
import { changeCredentials } from "../../src/config/credentials.ts";
import { chooseModel, findModelName, type ModelFlags } from "../../src/config/endpoints.ts";
import { SheafError } from "@sheaf/base/errors";
import { defaultRequestLimits } from "@sheaf/models/endpoint";
import { verifies } from "../../../../test/support/verifies.ts";
import { createTemporaryFolder } from "../../../base/test/files/temporary-workspace.ts";

const folder = createTemporaryFolder(undefined, afterAll);
const files = {
  config: join(folder, "config.json"),
  instructions: join(folder, "AGENTS.md"),
  credentials: join(folder, "none.json"),
};

interface Given {
  readonly flags?: ModelFlags;
  readonly environment?: Readonly<Record<string, string>>;
  readonly settings?: UserConfig;
  readonly credentials?: string;
}

const toSettings = ({ flags = {}, environment = {}, settings = {}, credentials = files.credentials }: Given) => ({
  flags,
  environment,
  config: { settings, fault: undefined },
  files: { ...files, credentials },
});
const choose = (model: string | undefined, given: Given = {}) =>
  chooseModel(toSettings({ ...given, flags: { model, ...given.flags } }));

function chooseEndpoint(model: string, given: Given = {}) {
  const choice = choose(model, given);
  if (choice.kind !== "endpoint") throw new Error(`${model} is ${choice.kind}`);
  return choice;
}

const keys = {
  ANTHROPIC_API_KEY: "k-anthropic",
  OPENAI_API_KEY: "k-openai",
  GEMINI_API_KEY: "k-gemini",
  OPENROUTER_API_KEY: "k-openrouter",
};

describe("names", () => {
  test.each([
    [
      "anthropic/claude-x",
      "anthropic",
      "anthropic-messages",
      "https://api.anthropic.com/v1",
      "claude-x",
      "k-anthropic",
    ],
    ["openai/gpt-x", "openai", "openai-responses", "https://api.openai.com/v1", "gpt-x", "k-openai"],
    ["openai-chat/gpt-x", "openai", "openai-chat", "https://api.openai.com/v1", "gpt-x", "k-openai"],
    ["google/gemini-x", "google", "gemini", "https://generativelanguage.googleapis.com/v1beta", "gemini-x", "k-gemini"],
    [
      "openrouter/a/b:free",
      "openai-compatible",
      "openai-chat",
      "https://openrouter.ai/api/v1",
      "a/b:free",
      "k-openrouter",
    ],
    ["ollama/qwen3:8b", "openai-compatible", "openai-chat", "http://127.0.0.1:11434/v1", "qwen3:8b", undefined],
    ["lmstudio/m", "openai-compatible", "openai-chat", "http://127.0.0.1:1234/v1", "m", undefined],
    ["llamacpp/m", "openai-compatible", "openai-chat", "http://127.0.0.1:8080/v1", "m", undefined],
    ["vllm/org/m", "openai-compatible", "openai-chat", "http://127.0.0.1:8000/v1", "org/m", undefined],
  ])("%s", (model, family, protocol, baseUrl, modelId, apiKey) => {
    expect(chooseEndpoint(model, { environment: keys })).toEqual({
      kind: "endpoint",
      family,
      endpoint: {
        provider: model.split("/", 1)[0],
        protocol,
        baseUrl,
        modelId,
        displayName: model,
        apiKey,
        apiKeySource: apiKey === undefined ? "none" : "env",
        headers: {},
      },
      limits: defaultRequestLimits,
    });
  });

  test("offline and scripted models need nothing", () => {
    expect(choose("offline")).toEqual({ kind: "offline" });
    expect(choose("scripted:a/b.json")).toEqual({ kind: "scripted", file: "a/b.json" });
  });

  test("an endpoint of the configuration is a provider", () => {
    const settings: UserConfig = {
      endpoints: {
        lab: {
          protocol: "anthropic-messages",
          baseUrl: "https://lab.example/v1",
          apiKeyEnv: "LAB_KEY",
          headers: { "X-Team": "a" },
        },
      },
      limits: { silenceSeconds: 1.5, maxTries: 2 },
    };
    expect(chooseEndpoint("lab/m", { settings, environment: { LAB_KEY: "k", ...keys } })).toMatchObject({
      family: "anthropic",
      endpoint: { baseUrl: "https://lab.example/v1", apiKey: "k", apiKeySource: "env", headers: { "x-team": "a" } },
      limits: { silenceMs: 1500, maxTries: 2, waitsForQuota: false },
    });
    expect(() => choose("lab/m", { settings, environment: keys })).toThrow(
      /"lab\/m" needs a key of lab: set LAB_KEY, or run sheaf login lab/,
    );
  });

  test("the name comes from the flag, the environment, the configuration, in this order", () => {
    const settings: UserConfig = { model: "ollama/c" };
    const environment = { SHEAF_MODEL: "ollama/e" };
    const find = (given: Given) => findModelName(toSettings(given));
    expect(find({ flags: { model: "ollama/f" }, environment, settings })).toEqual({ name: "ollama/f", source: "flag" });
    expect(find({ environment, settings })).toEqual({ name: "ollama/e", source: "env" });
    expect(find({ environment: { SHEAF_MODEL: "" }, settings })).toEqual({ name: "ollama/c", source: "config" });
    expect(find({})).toBeUndefined();
  });
});

describe("what cannot be used", () => {
  const settings: UserConfig = {
    endpoints: { lab: { protocol: "openai-chat", baseUrl: "http://lab", models: ["big-one"] } },
  };

  test.each([
    ["gpt-99", '"gpt-99" is unknown: did you mean openai/gpt-99?'],
    ["claude-sonnet-4", "did you mean anthropic/claude-sonnet-4?"],
    ["gemini-2", "did you mean google/gemini-2?"],
    ["big-one", "did you mean lab/big-one?"],
    ["opnai/gpt-5", "did you mean openai/gpt-5"],
    ["offlin", "did you mean offline?"],
    ["ollama", "did you mean ollama/ID?"],
    ["openai/", "did you mean openai/ID"],
    ["openai/a b", '"openai/a b" is unknown: it contains a space or a line end, which no id does; use one of'],
    ["opnai/a\n", '"opnai/a\n" is unknown: it contains a space or a line end, which no id does; did you mean openai/a'],
    ["", '"" (an unset variable?) is unknown: use one of offline, scripted:FILE, lab/ID, anthropic/ID'],
    ["__proto__/x", "is unknown: use one of"],
    ["constructor", "is unknown: use one of"],
  ])(verifies("C20", "%j is told with what is known"), (model, message) => {
    expect(() => choose(model, { settings, environment: keys })).toThrow(
      expect.objectContaining({ code: "MODEL_NOT_FOUND", message: expect.stringContaining(message) as string }),
    );
  });

  test(verifies("C20", "no name: one way comes first, then the offline one, and none is taken"), () => {
    let error: unknown;
    try {
      choose(undefined, { environment: keys });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: "AUTH_REQUIRED" });
    const { message } = error as SheafError;
    expect(message).toMatch(/set ANTHROPIC_API_KEY and add --model anthropic\/.*--model offline.*sheaf help flags/);
  });

  test.each([
    ["anthropic/x", "ANTHROPIC_API_KEY", "sheaf login anthropic"],
    ["openai-chat/x", "OPENAI_API_KEY", "sheaf login openai"],
    ["google/x", "GEMINI_API_KEY", "sheaf login google"],
    ["openrouter/x", "OPENROUTER_API_KEY", "sheaf login openrouter"],
  ])(verifies("C20", "%s without a key names the variable and the command"), (model, variable, command) => {
    expect(() => choose(model, { environment: { [variable]: " " } })).toThrow(
      expect.objectContaining({ code: "AUTH_REQUIRED", message: expect.stringContaining(variable) as string }),
    );
    expect(() => choose(model)).toThrow(command);
  });

  test(verifies("S-04", "a broken configuration is an error, whatever the flags say"), () => {
    const fault = new SheafError("CONFIG_INVALID", "broken");
    expect(() =>
      chooseModel({ ...toSettings({ flags: { model: "offline" } }), config: { settings: {}, fault } }),
    ).toThrow(fault);
  });

  test.each([
    ["offline", { baseUrl: "http://x" }, "--base-url has no effect"],
    ["scripted:f", { baseUrl: "http://x" }, "--base-url has no effect"],
    ["openai-compatible/m", {}, "add --base-url"],
    ["ollama/m", { baseUrl: "127.0.0.1:99" }, "starts with http:// or https://"],
    ["ollama/m", { baseUrl: "file:///etc/passwd" }, "starts with http:// or https://"],
    ["ollama/m", { baseUrl: "http://h/v1?key=CANARY" }, "without ? and #"],
    ["ollama/m", { baseUrl: "http://me:CANARY@h/v1" }, "without a name or a password"],
    ["ollama/m", { apiKey: "CANARY key" }, "--api-key contains a space"],
    ["ollama/m", { headers: ["X: CANARY\nY"] }, 'the header "X" (-H)'],
    ["ollama/m", { headers: ["CANARY"] }, "header 1 (-H) has no valid name"],
    ["ollama/m", { headers: ["A B: CANARY"] }, "header 1 (-H) has no valid name"],
  ] as const)(verifies(["S-41", "S-42"], "%s with %j is a usage error without the value"), (model, flags, message) => {
    expect(() => choose(model, { flags })).toThrow(
      expect.objectContaining({ code: "USAGE", message: expect.stringContaining(message) as string }),
    );
    expect(() => choose(model, { flags })).not.toThrow("CANARY");
  });
});

describe("keys", () => {
  const credentials = join(folder, "kept.json");
  changeCredentials(
    credentials,
    () =>
      new Map([
        ["openai", "k-login"],
        ["google", "k-login"],
        ["ollama", "k-login"],
        ["openai-compatible", "k-login"],
      ]),
  );
  const common = { SHEAF_API_KEY: "k-common" };
  const google = { GOOGLE_GENERATIVE_AI_API_KEY: "k-second" };
  const baseUrl = "http://h/v1/";

  test.each<[string, string, Given, string | undefined, string]>([
    ["the flag wins", "openai/m", { flags: { apiKey: "k-flag" }, environment: keys, credentials }, "k-flag", "flag"],
    ["the variable wins over the login", "openai/m", { environment: keys, credentials }, "k-openai", "env"],
    ["the provider's own variable wins", "openai/m", { environment: { ...common, ...keys } }, "k-openai", "env"],
    ["the common variable wins over the login", "openai/m", { environment: common, credentials }, "k-common", "env"],
    ["an empty variable is none", "openai/m", { environment: { OPENAI_API_KEY: "" }, credentials }, "k-login", "login"],
    ["an empty flag is none", "openai/m", { flags: { apiKey: "" }, credentials }, "k-login", "login"],
    ["the first variable wins", "google/m", { environment: { ...google, ...keys } }, "k-gemini", "env"],
    ["the second variable", "google/m", { environment: google, credentials }, "k-second", "env"],
    ["chat shares the key", "openai-chat/m", { credentials }, "k-login", "login"],
    ["line ends are cut off", "openai/m", { environment: { OPENAI_API_KEY: "k\n" } }, "k", "env"],
    [
      "a variable of another provider does not count",
      "ollama/m",
      { environment: { ...common, ...keys } },
      undefined,
      "none",
    ],
    ["a local server can have one", "ollama/m", { credentials }, "k-login", "login"],
    ["any server", "openai-compatible/m", { flags: { baseUrl }, environment: common, credentials }, "k-common", "env"],
    ["another address asks itself", "openai/m", { flags: { baseUrl } }, undefined, "none"],
    ["a header is a key", "openai/m", { flags: { headers: ["Authorization: Bearer x"] } }, undefined, "flag"],
  ])(verifies("C5", "%s: %s"), (_title, model, given, apiKey, apiKeySource) => {
    expect(chooseEndpoint(model, given).endpoint).toMatchObject({ apiKey, apiKeySource });
  });

  test(verifies("S-41", "a variable that holds no key is told without its value"), () => {
    const environment = { OPENAI_API_KEY: "CANARY\u0007" };
    expect(() => choose("openai/m", { environment })).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining("OPENAI_API_KEY") as string }),
    );
    expect(() => choose("openai/m", { environment })).not.toThrow("CANARY");
  });

  test("headers of the flags win over those of the configuration; the address loses its last slash", () => {
    const settings: UserConfig = {
      endpoints: { lab: { protocol: "openai-chat", baseUrl: "http://lab", headers: { "X-A": "1", "X-B": "2" } } },
    };
    const { endpoint } = chooseEndpoint("lab/m", { settings, flags: { baseUrl, headers: ["x-a: 3", "X-C:"] } });
    expect(endpoint).toMatchObject({ baseUrl: "http://h/v1", headers: { "x-a": "3", "x-b": "2", "x-c": "" } });
  });
});
