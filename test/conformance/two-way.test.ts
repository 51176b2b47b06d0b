/** A program at both ends of stdin and stdout, message by message. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { compiledCode, createTestFolder, openSheaf, runSheaf } from "../support/sheaf.ts";
import { parseValidLines } from "../support/schema-check.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const askingServer = join(import.meta.dirname, "../support/asking-server.ts");
const twoWay = ["-p", "--input-format", "stream-json", "--output-format", "stream-json"];
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

type Line = Readonly<Record<string, unknown>> & { readonly type: string; readonly subtype?: string };

/** The whole lines, each checked. */
function parse(stdout: string): Line[] {
  return parseValidLines("stream-json", stdout.match(/[^\n]*\n/g) ?? []) as unknown as Line[];
}

/** A conversation that a test holds. */
function open(cwd: string, ...args: readonly string[]) {
  const sheaf = openSheaf([...twoWay, ...args], { cwd, home: join(cwd, "home") });
  let stdout = "";
  let wake = Promise.withResolvers<void>();
  const change = (): void => {
    wake.resolve();
    wake = Promise.withResolvers();
  };
  sheaf.output.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
    change();
  });
  sheaf.output.on("end", change);
  let read = 0;
  const list = (): Line[] => parse(stdout);
  return {
    sheaf,
    send(...values: readonly unknown[]) {
      sheaf.input.write(
        values.map((value) => `${typeof value === "string" ? value : JSON.stringify(value)}\n`).join(""),
      );
    },
    say(content: unknown) {
      this.send({ type: "user", message: { role: "user", content } });
    },
    ask(id: string, request: object) {
      this.send({ type: "control_request", request_id: id, request });
    },
    decide(id: unknown, response: object) {
      this.send({ type: "control_response", response: { subtype: "success", request_id: id, response } });
    },
    /** The next line of this type, after those that were returned before. */
    async next(type: string): Promise<Line> {
      for (;;) {
        const lines = list();
        const index = lines.findIndex((line, place) => place >= read && line.type === type);
        if (index !== -1) {
          read = index + 1;
          return lines[index]!;
        }
        if (sheaf.output.readableEnded) throw new Error(`no ${type}: ${stdout}${sheaf.readError()}`);
        await wake.promise;
      }
    },
    async close() {
      sheaf.input.end();
      return [await sheaf.ended, sheaf.readError()] as const;
    },
    list,
  };
}

const call = (command: string) => ({ call: { tool: "run_terminal_cmd", arguments: { command } } });
const say = (text: string) => ({ events: [{ text }] });
const newFolder = (turns: readonly unknown[], files: Readonly<Record<string, string>> = {}): string =>
  folders.newFolder({ "s.json": JSON.stringify({ turns }), ...files });
const model = ["--model", "scripted:s.json", "--sandbox", "disabled"];

describe("messages", () => {
  test(
    verifies(["C65", "C14"], "are answered one after another in one session, each with its result line"),
    async () => {
      const talk = open(newFolder([say("First."), say("Second."), say("Third.")]), ...model);
      talk.say("one");
      expect(await talk.next("result")).toMatchObject({ subtype: "success", result: "First." });
      // The process goes on, and takes several at once.
      talk.say([{ type: "text", text: "two" }]);
      talk.send({ type: "user", session_id: "", uuid: "x", message: { role: "user", content: "three" } }, "");
      expect(await talk.close()).toEqual([0, ""]);
      const lines = talk.list();
      expect(lines.filter(({ type }) => type === "result").map((line) => line["result"])).toEqual([
        "First.",
        "Second.",
        "Third.",
      ]);
      expect(new Set(lines.map((line) => line["session_id"])).size).toBe(1);
      expect(lines.filter(({ subtype }) => subtype === "init")).toHaveLength(3);
      expect(lines.at(-1)).toMatchObject({ type: "result" });
    },
  );

  test(verifies(["C65", "C240"], "reach the answer that runs, before those that wait"), async () => {
    const talk = open(newFolder([{ events: [{ text: "One. " }, call("rm a")] }, say("Two."), say("Three.")]), ...model);
    talk.say("go");
    const { request_id: id } = await talk.next("control_request");
    talk.say("later");
    talk.send({ type: "user", when_busy: "steer", message: { role: "user", content: "use tabs" } });
    talk.decide(id, { behavior: "deny" });
    expect(await talk.next("result")).toMatchObject({ result: "One. Two." });
    expect(await talk.next("result")).toMatchObject({ result: "Three." });
    const users = talk.list().filter(({ type }) => type === "user") as unknown as {
      message: { content: { text: string }[] };
    }[];
    expect(users.map(({ message }) => message.content[0]!.text)).toEqual(["go", "use tabs", "later"]);
    expect(await talk.close()).toEqual([0, ""]);
  });

  test(verifies("C65", "carry images, and continue the session that a flag names"), async () => {
    const cwd = newFolder([say("Seen."), say("Again.")]);
    const talk = open(cwd, ...model);
    talk.say([
      { type: "text", text: "what is this?" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
    ]);
    const { session_id: session } = await talk.next("result");
    expect(await talk.close()).toEqual([0, ""]);
    const again = open(cwd, ...model, "--resume", String(session));
    again.say("and now?");
    expect(await again.next("result")).toMatchObject({ session_id: session, result: "Again." });
    expect(await again.close()).toEqual([0, ""]);
    const shown = await runSheaf(["export", String(session)], { cwd, home: join(cwd, "home") });
    expect(shown.stdout).toContain('"mediaType":"image/png"');
  });

  test(verifies(["C65", "C21"], "that fail have their result lines, and the process goes on"), async () => {
    const talk = open(
      newFolder([{ events: [{ error: { code: "OVERLOADED", message: "too busy" } }] }, say("Better.")]),
      ...model,
      "--max-turns",
      "1",
    );
    talk.say("one");
    expect(await talk.next("result")).toMatchObject({ subtype: "error" });
    talk.say("two");
    await talk.next("result");
    const [, stderr] = await talk.close();
    expect(stderr).toMatch(/^sheaf: [A-Z_]+: /);
  });
});

describe("a line that cannot be used", () => {
  test.each([
    ["not json", /^line 1 of stdin is not JSON: write \{"type":"user"/],
    ['{"type":"message"}', /^line 1 of stdin has the type "message"/],
    ['"user"', /^line 1 of stdin has the type ""/],
    [
      '{"type":"user","message":{"role":"user","content":[{"type":"tool_result"}]}}',
      /^line 1 of stdin is not valid at message\.content/,
    ],
    ['{"type":"user","message":{"role":"assistant","content":"x"}}', /^line 1 of stdin is not valid at message\.role/],
    ['{"type":"user","message":{"role":"user","content":" "}}', /^line 1 of stdin is a message without text/],
    [
      '{"type":"control_response","response":{"subtype":"success","request_id":"appr_1"}}',
      /^line 1 of stdin answers the request "[^"]*", which Sheaf never sent/,
    ],
    [
      '{"type":"user","message":{"role":"user","content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"base64","data":"AAAA"}}]}}',
      /^line 1 of stdin cannot be used: file 1 is not a PNG/,
    ],
    ["\n\nnot json either", /^line 3 of stdin is not JSON/],
    ["", /^line 1 of stdin is missing/],
  ])(verifies("C65", "%j ends the process with a result line that names it"), async (input, message) => {
    const run = await runSheaf([...twoWay, "--model", "offline"], { cwd: folders.newFolder(), input });
    const lines = parse(run.stdout);
    expect(lines.map(({ type }) => type)).toEqual(["system", "user", "result"]);
    expect(lines.at(-1)).toMatchObject({ error: { code: "USAGE", message: expect.stringMatching(message) as string } });
    expect([run.code, run.stderr]).toEqual([2, expect.stringMatching(/^sheaf: USAGE: line \d+ [^\n]+\n$/)]);
  });

  test(verifies("C65", "ends the run that goes on, and drops what waits"), async () => {
    const talk = open(newFolder([{ events: [{ text: "Begun." }, { wait_ms: 60_000 }] }, say("never")]), ...model);
    talk.say("one");
    await talk.next("user");
    talk.say("two");
    talk.send("{broken");
    const result = await talk.next("result");
    expect(result).toMatchObject({ error: { code: "USAGE", message: expect.stringMatching(/^line 3 /) as string } });
    expect((await talk.close())[0]).toBe(2);
    expect(talk.list().filter(({ type }) => type === "result")).toHaveLength(1);
  });

  test(verifies("C65", "that is too long or not UTF-8 ends it, too"), async () => {
    const talk = open(folders.newFolder(), "--model", "offline");
    for (let piece = 0; piece < 17; piece += 1) talk.sheaf.input.write("x".repeat(1024 * 1024));
    talk.sheaf.input.write("\n");
    const result = await talk.next("result");
    expect(JSON.stringify(result)).toContain("line 1 of stdin");
    expect(JSON.stringify(result)).toContain("longer than 16777216 characters");
    const bytes = open(folders.newFolder(), "--model", "offline");
    bytes.sheaf.input.write(Buffer.from([0x22, 0xff, 0x22, 0x0a]));
    expect(JSON.stringify(await bytes.next("result"))).toContain("UTF-8");
  });

  test.each([
    [["words"], /a prompt in the arguments/], [["--image", "a.png"], /--image does not go/], [["--no-save"], /--no-save does not go/],
    [["--output-format", "json"], /needs --output-format stream-json/], [["--input-format", "xml"], /"xml" is unknown/],
  ])(verifies("C65", "%j is a usage error"), async (args, message) => {
    const run = await runSheaf([...twoWay.slice(0, 3), ...args, "--model", "offline"], { cwd: folders.newFolder(), input: "" });
    expect([run.code, run.stderr]).toEqual([2, expect.stringMatching(message)]);
  }); // prettier-ignore
});

describe("requests", () => {
  test(verifies("C66", "interrupt cancels the run, and the process goes on"), async () => {
    const talk = open(newFolder([{ events: [{ text: "Begun." }, { wait_ms: 60_000 }] }, say("Next.")]), ...model);
    talk.ask("a", { subtype: "initialize", hooks: {} });
    const { response, session_id: session } = await talk.next("control_response");
    expect(response).toEqual({ subtype: "success", request_id: "a", response: { session_id: session } });
    talk.say("one");
    await talk.next("assistant");
    talk.ask("b", { subtype: "interrupt" });
    expect(await talk.next("control_response")).toMatchObject({ response: { subtype: "success", request_id: "b" } });
    expect(await talk.next("result")).toMatchObject({ result: "Begun.", error: { code: "CANCELLED" } });
    talk.ask("c", { subtype: "set_volume" });
    expect(await talk.next("control_response")).toMatchObject({ response: { subtype: "error", request_id: "c" } });
    talk.say("two");
    expect(await talk.next("result")).toMatchObject({ subtype: "success", result: "Next." });
    expect((await talk.close())[0]).toBe(0);
  });

  test(verifies(["C66", "C25"], "answers go to the questions of the last run"), async () => {
    const options = [
      { id: "sqlite", label: "SQLite" },
      { id: "postgres", label: "PostgreSQL" },
    ];
    const questions = [{ id: "store", prompt: "Which storage?", options }];
    const ask = { events: [{ call: { tool: "ask_question", arguments: { title: "One", questions } } }] };
    const talk = open(newFolder([ask, say("It is done.")]), ...model);
    talk.ask("0", { subtype: "answer", answers: { store: "sqlite" } });
    expect(await talk.next("control_response")).toMatchObject({ response: { subtype: "error", request_id: "0" } });
    talk.say("build it");
    expect(await talk.next("result")).toMatchObject({ subtype: "needs_input", questions: [{ id: "store" }] });
    talk.ask("1", { subtype: "answer", answers: {} });
    expect(await talk.next("control_response")).toMatchObject({
      response: { subtype: "error", error: expect.stringContaining("no question has an answer") as string },
    });
    talk.ask("2", { subtype: "answer", answers: { store: ["postgres"] } });
    expect(await talk.next("control_response")).toMatchObject({ response: { subtype: "success", request_id: "2" } });
    expect(await talk.next("user")).toMatchObject({ message: { content: [{ text: "store: postgres" }] } });
    expect(await talk.next("result")).toMatchObject({ subtype: "success", result: "It is done." });
    expect((await talk.close())[0]).toBe(0);
  });

  test(verifies(["C66", "S-16"], "a call that needs a person is asked, and runs as it is answered"), async () => {
    const cwd = newFolder(
      ["touch one", "touch two", "touch three", "touch \u202Efour", "touch five"]
        .map((command) => ({ events: [call(command)] }))
        .concat(say("Done.") as never),
    );
    const talk = open(cwd, ...model);
    talk.say("go");
    const asked = await talk.next("control_request");
    expect(asked).toMatchObject({
      request: { subtype: "can_use_tool", tool_name: "run_terminal_cmd", input: { command: "touch one" } },
    });
    expect(existsSync(join(cwd, "one"))).toBe(false);
    talk.decide(asked["request_id"], { behavior: "allow", updatedInput: { command: "touch one" } });
    const second = await talk.next("control_request");
    expect(existsSync(join(cwd, "one"))).toBe(true);
    talk.decide(second["request_id"], { behavior: "deny", message: "not that one" });
    const third = await talk.next("control_request");
    talk.decide(third["request_id"], { behavior: "allow", updatedInput: { command: "touch other" } });
    const fourth = await talk.next("control_request");
    expect(JSON.stringify(fourth)).toContain("touch <U+202E>four");
    talk.decide(fourth["request_id"], { behavior: "surely" });
    const fifth = await talk.next("control_request");
    talk.decide(fifth["request_id"], { behavior: "allow", updatedInput: { nonsense: 1 } });
    const result = await talk.next("result");
    expect(result).toMatchObject({ subtype: "success", result: "Done." });
    expect((await talk.close())[0]).toBe(0);
    expect(["one", "two", "three", "other", "five"].map((name) => existsSync(join(cwd, name)))).toEqual([
      true,
      false,
      false,
      true,
      false,
    ]);
    const output = JSON.stringify(talk.list());
    expect(output).toContain("the user refused this call: not that one");
    expect(output).toContain("the answer cannot be used");
    expect(output).toContain("the arguments that were given instead cannot be used");
  });

  test(
    verifies("C66", "a question is refused once stdin is closed, and withdrawn when its run is cancelled"),
    async () => {
      const cwd = newFolder([{ events: [call("touch one")] }, say("Refused.")]);
      const talk = open(cwd, ...model);
      talk.say("go");
      await talk.next("control_request");
      expect(await talk.close()).toEqual([0, ""]);
      expect(talk.list().map(({ type }) => type)).toContain("control_cancel_request");
      expect(talk.list().at(-1)).toMatchObject({ result: "Refused." });
      expect(existsSync(join(cwd, "one"))).toBe(false);

      const again = open(newFolder([{ events: [call("touch one")] }]), ...model);
      again.say("go");
      const { request_id: id } = await again.next("control_request");
      again.ask("x", { subtype: "interrupt" });
      expect(await again.next("control_cancel_request")).toMatchObject({ request_id: id });
      expect(await again.next("result")).toMatchObject({ error: { code: "CANCELLED" } });
      // An answer that crosses with it is no fault.
      again.decide(id, { behavior: "allow" });
      expect((await again.close())[0]).toBe(130);
    },
  );

  test(verifies(["C101", "C66", "X59"], "the form of a tool server takes its values, or is declined"), async () => {
    const hotel = { command: process.execPath, args: [askingServer], env: compiledCode };
    const book = { events: [{ call: { tool: "mcp__hotel__book", arguments: {} } }] };
    const config = JSON.stringify({ mcpServers: { hotel } });
    const cwd = newFolder([book, book, say("Done.")], { "home/config.json": config });
    const talk = open(cwd, ...model, "--approve-mcps", "--trust");
    talk.say("go");
    const asked = (await talk.next("control_request")) as unknown as { request_id: string; request: object };
    expect(asked.request).toMatchObject({
      tool_name: "mcp__hotel__book",
      title: "The MCP server hotel asks",
      input: { nights: 2 },
      subject: { type: "server_question", server: "hotel" },
    });
    talk.decide(asked.request_id, { behavior: "allow", updatedInput: { guest: "Ada", room: "s" } });
    const { request_id: second } = await talk.next("control_request");
    talk.decide(second, { behavior: "deny" });
    await talk.next("result");
    expect(await talk.close()).toEqual([0, ""]);
    const output = JSON.stringify(talk.list()).replaceAll("\\", "");
    expect(output).toContain('accept {"guest":"Ada","room":"s"}');
    expect(output).toContain("decline {}");
  });

  test(verifies(["C65", "C23"], "a signal ends the run and the process"), async () => {
    const talk = open(newFolder([{ events: [{ text: "Begun." }, { wait_ms: 60_000 }] }]), ...model);
    talk.say("one");
    talk.say("two");
    await talk.next("assistant");
    talk.sheaf.send("SIGTERM");
    expect(await talk.next("result")).toMatchObject({ error: { code: "CANCELLED" } });
    expect((await talk.close())[0]).toBe(143);
    expect(talk.list().filter(({ type }) => type === "result")).toHaveLength(1);
  });

  test(verifies("C65", "many messages wait without being lost, also for a slow reader"), async () => {
    const cwd = newFolder(Array.from({ length: 40 }, (_, index) => say(`Answer ${index}. ${"x".repeat(5000)}`)));
    const talk = open(cwd, ...model);
    talk.sheaf.output.pause();
    for (let index = 0; index < 40; index += 1) talk.say(`message ${index}`);
    talk.sheaf.output.resume();
    expect(await talk.close()).toEqual([0, ""]);
    const answers = talk
      .list()
      .filter(({ type }) => type === "result")
      .map((line) => String(line["result"]).slice(0, 10));
    expect(answers).toEqual(Array.from({ length: 40 }, (_, index) => `Answer ${index}. ${"x".repeat(9)}`.slice(0, 10)));
  });
});
