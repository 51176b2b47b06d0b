import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { findUserConfig, parseUserConfig, readUserConfig, toConfigSchema } from "../../src/config/config-file.ts";
import { createConfig } from "../../src/config/config.ts";
import { findJsonFault } from "../../src/config/config-file.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createTemporaryFolder } from "../../../base/test/files/temporary-workspace.ts";

const folder = createTemporaryFolder(undefined, afterAll);

const whole = {
  model: "lab/m",
  endpoints: {
    lab: {
      protocol: "openai-chat",
      baseUrl: "http://127.0.0.1:9000/v1",
      apiKeyEnv: "LAB_KEY",
      headers: { "X-Team": "a" },
      models: ["m"],
    },
  },
  limits: { silenceSeconds: 30, maxTries: 3 },
  budgets: { maxTurns: 1, maxToolCalls: 2, maxTokens: 3, timeout: 4.5 },
};

test("a whole configuration", () => {
  expect(parseUserConfig(`\uFEFF${JSON.stringify(whole)}`, "f")).toEqual(whole);
});

const docs = join(import.meta.dirname, "../../../../docs");

test.each([
  ["guide/models.md", ["model", "effort", "afterEdit", "budgets"]],
  [
    "reference/configuration.md",
    ["$schema", "model", "limits", "contextTokens", "prices", "budgets", "afterEdit", "endpoints", "providers"],
  ],
])("the examples of docs/%s", (name, keys) => {
  const examples = [...readFileSync(join(docs, name), "utf8").matchAll(/^```json\n([\s\S]*?)^```$/gm)];
  expect(examples.flatMap(([, text = ""]) => Object.keys(parseUserConfig(text, name)))).toEqual(keys);
});

test("every key stands in the reference, or in the guide that it names", () => {
  const pages = ["reference/configuration.md", "reference/git-workspaces.md", "reference/mcp.md"].map((name) =>
    readFileSync(join(docs, name), "utf8"),
  );
  const listKeys = (schema: unknown): string[] => {
    if (typeof schema !== "object" || schema === null) return [];
    const { properties = {} } = schema as { properties?: Record<string, unknown> };
    return [...Object.keys(properties), ...Object.values(schema).flatMap(listKeys)];
  };
  const keys = [...new Set(listKeys(toConfigSchema()))];
  expect(keys).toEqual(expect.arrayContaining(["model", "silenceSeconds", "timeoutSeconds", "cacheWrite"]));
  const missing = keys.filter(
    (key) => !pages.some((page) => new RegExp(`["\`.]${key.replace("$", "\\$")}["\`]`).test(page)),
  );
  expect(missing).toEqual([]);
});

test(verifies("S-96", "the name of an edited file stays one word: {file} in quotes is an error"), () => {
  const parse = (command: string) => parseUserConfig(JSON.stringify({ afterEdit: [{ glob: "*", command }] }), "f");
  for (const command of ["x {file}", "x \"a\" {file} 'b'", String.raw`echo it\'s {file} don\'t`])
    expect(parse(command).afterEdit).toEqual([{ glob: "*", command }]);
  for (const command of ['x "{file}"', "x '{file}'", 'sh -c "x {file}; y"', 'x "a\\"{file}"'])
    expect(() => parse(command)).toThrow(/afterEdit.*\{file\} outside quotes/);
});

test("no file is an empty one", () => {
  expect(readUserConfig(join(folder, "none.json"))).toEqual({});
  writeFileSync(join(folder, "file"), "");
  expect(readUserConfig(join(folder, "file", "config.json"))).toEqual({});
});

test(verifies("C24", "budgets hold where no flag says otherwise"), () => {
  const found = { settings: parseUserConfig(JSON.stringify(whole), "f"), fault: undefined };
  expect(createConfig({}, {}, folder, found)).toMatchObject({
    model: "lab/m",
    limits: { maxTurns: 1, maxToolCalls: 2, maxTokens: 3 },
    timeoutMs: 4500,
  });
  const raw = { maxTurns: "9", timeout: "1" };
  expect(createConfig(raw, {}, folder, found)).toMatchObject({
    limits: { maxTurns: 9, maxTokens: 3 },
    timeoutMs: 1000,
  });
});

describe("what is not valid", () => {
  const withEndpoint = (name: string, change: object) => ({
    endpoints: { [name]: { protocol: "openai-chat", baseUrl: "http://h", ...change } },
  });

  test.each([
    [[], "its top level: "],
    [{ modle: "x" }, 'its top level: there is no key "modle" (did you mean "model"?)'],
    [{ budgets: { maxTurn: 1 } }, 'budgets: there is no key "maxTurn" (did you mean "maxTurns"?)'],
    [{ permissions: { allowed: [] } }, 'permissions: there is no key "allowed" (did you mean "allow"?)'],
    [
      { mcpServers: { files: { command: "x", arg: [] } } },
      'mcpServers.files: there is no key "arg" (did you mean "args"?)',
    ],
    [{ mcpServers: { web: { url: "ftp://h" } } }, "mcpServers.web.url: "],
    [{ model: 1 }, "model: expected a string of 1 to 200 characters"],
    [{ model: "" }, "model: "],
    [{ apiKey: "CANARY" }, 'there is no key "apiKey" (there are $schema, model, endpoints, '],
    [withEndpoint("lab", { protocol: "soap" }), "endpoints.lab.protocol: "],
    [withEndpoint("lab", { baseUrl: "lab" }), "endpoints.lab.baseUrl: expected an address that starts with http://"],
    [
      withEndpoint("lab", { baseUrl: "http://u:CANARY@h" }),
      "starts with http:// or https://, without a name, a password, ? or #",
    ],
    [withEndpoint("lab", { apiKeyEnv: "CANARY-key" }), "endpoints.lab.apiKeyEnv: expected the name of a variable"],
    [withEndpoint("lab", { headers: { x: "CANARY\n" } }), "endpoints.lab.headers.x: expected one line"],
    [withEndpoint("lab", { apiKey: "CANARY" }), 'endpoints.lab: there is no key "apiKey" (did you mean "apiKeyEnv"?)'],
    [withEndpoint("openai", {}), "that is not built in"],
    [
      withEndpoint("offline", {}),
      "endpoints.offline: expected a name of letters, digits, points and dashes that is not built in",
    ],
    [withEndpoint("a/b", {}), "endpoints.a/b: expected a name of letters"],
    [{ limits: { maxTries: 11 } }, "limits.maxTries: "],
    [{ limits: { maxTries: 0 } }, "limits.maxTries: "],
    [{ limits: { silenceSeconds: 0 } }, "limits.silenceSeconds: "],
    [{ budgets: { maxTurns: 1.5 } }, "budgets.maxTurns: "],
    [{ budgets: { turns: 1 } }, 'budgets: there is no key "turns" (did you mean "maxTurns"?)'],
  ])(verifies(["S-04", "S-41"], "%j is told with file and place, without the value"), (value, message) => {
    const parse = () => parseUserConfig(JSON.stringify(value), "/h/config.json");
    expect(parse).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(message) as string }),
    );
    expect(parse).toThrow("/h/config.json");
    try {
      parse();
    } catch (error) {
      expect(JSON.stringify([(error as Error).message, (error as { details: string }).details])).not.toContain(
        "CANARY",
      );
    }
  });

  test.each([
    ["", 1, 1],
    ["{", 1, 2],
    ['{"a": 1,}', 1, 9],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3],
    ["{\n  // c\n}", 2, 3],
    ['{"model": CANARY}', 1, 11],
    ['{"model": "CANARY}', 1, 19],
    ["{} x", 1, 4],
    ['{"a": tru}', 1, 10],
    ["nul", 1, 4],
    ["-", 1, 2],
    ['{"a": 1.}', 1, 9],
    ['{"a": "\\x"}', 1, 9],
  ])(verifies(["S-04", "S-41"], "%j stops being JSON at line %i, column %i"), (text, line, column) => {
    expect(findJsonFault(text)).toEqual({ line, column });
    const parse = () => parseUserConfig(text, "f");
    expect(parse).toThrow(`line ${line}, column ${column}: expected JSON`);
    expect(parse).not.toThrow("CANARY");
  });

  test("a fault is found in any JSON with a sign too much", () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (json, position) => {
        expect(findJsonFault(json)).toBeUndefined();
        const at = position % (json.length + 1);
        const text = `${json.slice(0, at)}\u0001${json.slice(at)}`;
        // A control character is allowed nowhere in JSON; inside a string it is the fault, too.
        expect(findJsonFault(text)).toEqual({ line: 1, column: at + 1 });
      }),
    );
  });

  test(verifies("S-04", "what is no ordinary file is told"), () => {
    const place = join(folder, "place");
    mkdirSync(place);
    expect(findUserConfig(place)).toMatchObject({ settings: {}, fault: { code: "CONFIG_INVALID" } });
    const large = join(folder, "large.json");
    writeFileSync(large, `{"model":"${"x".repeat(1024 * 1024)}"}`);
    expect(findUserConfig(large).fault?.message).toContain("larger than");
  });
});
