/** What a command line chooses: profile, format, provider, session, print mode. */
import { describe, expect, test } from "vitest";
import { parseArguments } from "../src/arguments.ts";
import { isPrintMode, type CommandIo } from "../src/io.ts";
import { createChosenProjection, toOutputFormat } from "../src/output-choice.ts";
import { chooseProvider } from "../src/run-config.ts";
import { chooseConversation, findNamedSession } from "../src/prompt-run.ts";
import { providerPresets } from "@sheaf/agent/config/provider-presets";
import type { Provider } from "@sheaf/agent/config/providers";
import { createSqliteStore } from "@sheaf/store/sqlite";
import { project, runStart, toCall, toLog } from "../../agent/test/output/log.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createMemoryPorts } from "../../../test/support/memory-ports.ts";
import { sheafDialect } from "../src/dialects/sheaf/sheaf.ts";
import { cursorDialect } from "../src/dialects/cursor/cursor.ts";
import { chooseDialect } from "../src/dialects/dialect.ts";

const one = "123e4567-e89b-42d3-a456-426614174000";
const other = "0f8fad5b-d9cb-469f-a165-70867728950e";
const io: CommandIo = {
  cwd: "/w",
  environment: {},
  dialect: sheafDialect,
  ...createMemoryPorts(),
};
const toFlags = (...words: readonly string[]) => parseArguments([...words, "go"]).flags;
const usage = (message: string | RegExp): unknown =>
  expect.objectContaining({ code: "USAGE", message: expect.stringMatching(message) as string });

describe("the profile", () => {
  test.each([
    [undefined, "/usr/bin/sheaf", "sheaf"],
    [undefined, "/usr/bin/cursor-agent", "cursor-2026"],
    [undefined, "C:/bin/agent.cmd", "cursor-2026"],
    [undefined, "/x/agent.js", "cursor-2026"],
    [undefined, "/x/agents", "sheaf"],
    ["sheaf", "/usr/bin/agent", "sheaf"],
    ["cursor-2026", "sheaf", "cursor-2026"],
  ])(verifies("C30", "--compat %s, started as %s"), (compat, program, profile) => {
    expect(chooseDialect(compat === undefined ? [] : [`--compat=${compat}`], program)).toBe(profile);
    if (compat) expect(chooseDialect(["-p", "--compat", compat, "--", "--compat=x"], program)).toBe(profile);
  });

  test("an unknown one is refused, with those that are known", () => {
    expect(() => chooseDialect(["--compat=vim"], "sheaf")).toThrow(usage(/"vim".*sheaf, cursor-2026/));
  });
});

describe("the format", () => {
  test(verifies(["C2", "C30"], "is stream-json, text in the other profile, or what the flag says"), () => {
    expect(toOutputFormat({}, io)).toBe("stream-json");
    expect(toOutputFormat({}, { ...io, dialect: cursorDialect })).toBe("text");
    expect(toOutputFormat({ "output-format": "json" }, { ...io, dialect: cursorDialect })).toBe("json");
    expect(() => toOutputFormat({ "output-format": "xml" }, io)).toThrow(usage(/"xml".*text.*documents-stream/));
  });

  test.each([
    [{}, {}, "Read file"],
    [{}, { LANG: "de_DE.UTF-8" }, "Datei gelesen"],
    [{}, { LANG: "de_DE", LC_MESSAGES: "tr_TR" }, "Dosya okundu"],
    [{}, { LANG: "de_DE", LC_MESSAGES: "tr", LC_ALL: "C" }, "Read file"],
    [{ locale: "de" }, { LC_ALL: "tr" }, "Datei gelesen"],
  ])(verifies("C11", "%j in the environment %j speaks so"), async (flags, environment, words) => {
    const projection = await createChosenProjection("text", flags, { ...io, environment });
    const log = toLog(runStart, ...toCall("call_1", "read_file", {}, {}), { type: "run_end", reason: "end_turn" });
    expect(project(projection, log).join("")).toContain(words);
  });

  test(verifies("C11", "a --locale without words is refused, with those that have them"), async () => {
    await expect(createChosenProjection("text", { locale: "fr" }, io)).rejects.toThrow(
      usage(/"fr".*en, de, tr, ja, zh-TW/),
    );
  });
});

describe("print mode", () => {
  test.each([
    [{}, true, true, false],
    [{ print: true }, true, true, true],
    [{}, false, true, true],
    [{}, true, false, true],
  ] as const)(verifies("C1", "%j, stdin a terminal: %s, stdout a terminal: %s"), (flags, input, output, expected) => {
    expect(isPrintMode(flags, { ...io, isInputTerminal: input, isOutputTerminal: output })).toBe(expected);
  });
});

describe("the provider", () => {
  const providers = providerPresets as unknown as ReadonlyMap<string, Provider>;

  test("is named alone, or as part of a model's name", () => {
    expect(chooseProvider("anthropic", providers)).toBe(providers.get("anthropic"));
    expect(chooseProvider("anthropic/claude-x", providers)).toBe(providers.get("anthropic"));
  });

  test("that is unknown is refused with the nearest ones", () => {
    expect(() => chooseProvider("antropic", providers)).toThrow(usage(/"antropic".*did you mean anthropic/));
  });

  test(verifies("S-41", "a word that may be a key is not repeated"), () => {
    const key = "sk-verysecret";
    let message = "";
    try {
      chooseProvider(key, providers, { repeatsWord: false });
    } catch (error) {
      ({ message } = error as Error);
    }
    expect(message).toContain("anthropic");
    expect(message).not.toContain(key);
  });
});

describe("the session", () => {
  test.each([
    [[], undefined],
    [["--resume", one], one],
    [["--session-id", one], one],
    [["--session-id", one, "--resume", one.toUpperCase()], one],
    [["--session-id", one, "--resume", `conv_${one}`], one],
  ])("%j names %s", (words, named) => {
    expect(findNamedSession(toFlags(...words))).toBe(named);
  });

  test.each([[["--resume", other]], [["--continue"]], [["--resume"]]])("--session-id with %j is refused", (words) => {
    const { flags } = parseArguments(["go", "--session-id", one, ...words]);
    expect(() => findNamedSession(flags)).toThrow(usage(one));
  });

  test(verifies("C14", "is a new one, the named one, or the newest of the workspace"), async () => {
    const store = createSqliteStore(":memory:");
    const choose = (...words: readonly string[]) => chooseConversation(toFlags(...words), store, ["/w"]);
    expect(await choose()).toMatch(/^conv_[0-9a-f]{8}-/);
    expect(await choose()).not.toBe(await choose());
    expect(await choose("--resume", one.toUpperCase())).toBe(`conv_${one}`);
    await expect(choose("--continue")).rejects.toThrow(usage("/w"));
    await expect(choose("--session-id", "mine")).rejects.toThrow(usage('"mine"'));
    await expect(choose("--no-save", "--continue")).rejects.toThrow(usage("--no-save"));
    for (const [id, workspace, createdAt] of [
      ["a", "/w", 1],
      ["b", "/w", 2],
      ["c", "/elsewhere", 3],
    ] as const) {
      await store.createResponse({ id: `chat_${id}`, conversationId: `conv_${id}`, workspace, title: "t", createdAt });
    }
    expect(await choose("--continue")).toBe("conv_b");
    expect(findNamedSession({ resume: "" })).toBeUndefined();
    expect(await chooseConversation({ resume: "" }, store, ["/w"])).toBe("conv_b");
    for (const word of ["null", "undefined", "session-abc", "conv_x", "go on", "-1", "abcd"]) {
      await expect(chooseConversation({ resume: word }, store, ["/w"]), word).rejects.toThrow(usage(/sheaf ls/));
    }
    await store.close();
  });
});
