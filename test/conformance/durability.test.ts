/** What was printed is stored, whatever happens to the process or to the disk. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSqliteStore } from "../../packages/store/src/sqlite.ts";
import { createStreamJsonProjection } from "../../packages/agent/src/output/stream-json.ts";
import { describe, expect, test } from "vitest";
import { methods } from "@agentclientprotocol/sdk/unstable";
import { startEditor } from "../support/acp-editor.ts";
import { notLinux, skipIfMissing } from "../support/describe-where.ts";
import { refuseEvents } from "../support/refusing-store.ts";
import { describeWithNamespaces, toNamespaceWrapper } from "../support/namespace.ts";
import { createTestFolder, parseStream, runProgram, runSheaf, type SheafResult, toLines } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const repository = join(import.meta.dirname, "../..");

/** Ten turns that read, list and search the project's own repository. */
const tenTurns = {
  turns: [
    ...Array.from({ length: 10 }, (_, turn) => ({
      events: [
        { text: `Turn ${turn}: I look. `, chunk: 4, group: 2 },
        { wait_ms: 5 },
        {
          calls: [
            { tool: "read_file", arguments: { target_file: "AGENTS.md", offset: turn + 1, limit: 20 } },
            { tool: "grep_search", arguments: { pattern: "clause", path: "docs" } },
          ],
        },
      ],
    })),
    { events: [{ text: "Done." }] },
  ],
};

describe("SIGKILL in the middle of a run", () => {
  // The moments are lines of output, so that the kill meets text, calls and results in turn.
  test.each([3, 10, 25, 50, 75])(
    verifies(
      ["R-01", "R-03", "C22", "C31"],
      "after line %i: the log is readable, has no gap, and holds everything that was printed",
    ),
    async (killLine) => {
      const home = join(folders.newFolder(), "home");
      const script = join(folders.path, "ten-turns.json");
      writeFileSync(script, JSON.stringify(tenTurns));
      const { stdout, signal } = await runProgram(["-p", "--model", `scripted:${script}`, "look around"], {
        cwd: repository,
        home,
        onOutput: (output, child) => {
          if (toLines(output).length >= killLine) child.kill("SIGKILL");
        },
      });
      expect(signal).toBe("SIGKILL");
      const printed = toLines(stdout).filter((line) => line.endsWith("\n"));
      expect(printed.length).toBeGreaterThanOrEqual(killLine);

      const store = createSqliteStore(join(home, "sheaf.db"));
      const [conversation] = await store.listConversations({ limit: 9 });
      const [response] = await store.listResponses(conversation!.id);
      const events = await store.readEvents(response!.id);
      await store.close();
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
      expect(response).toMatchObject({ ended: false, lastSeq: events.length });

      const projection = createStreamJsonProjection();
      const replayed = events.flatMap((event) => projection.push(event));
      expect(replayed.slice(0, printed.length)).toEqual(printed);
      const shown = await runSheaf(["show", conversation!.id.slice("conv_".length)], { cwd: repository, home });
      expect([shown.code, shown.stderr]).toEqual([0, ""]);
      expect(shown.stdout.startsWith(replayed.join(""))).toBe(true);
      const lines = parseStream(shown.stdout);
      expect(lines.at(-1)).toMatchObject({ type: "result", subtype: "error", error: { code: "INTERRUPTED" } });
      const calls = (kind: string) =>
        new Set(lines.filter(({ subtype }) => subtype === kind).map((line) => line.call_id));
      expect(calls("completed")).toEqual(calls("started"));
    },
  );

  test(verifies("C31", "show, export and fork end a cut run in every format, and the same way each time"), async () => {
    const cwd = folders.newFolder({
      "s.json": JSON.stringify({ turns: [{ events: [{ text: "What is there." }, { stall: true }] }] }),
    });
    const home = join(cwd, "home");
    const { stdout } = await runProgram(["-p", "--model", "scripted:s.json", "go"], {
      cwd,
      home,
      onOutput: (output, child) => {
        if (output.includes("What is there.")) child.kill("SIGKILL");
      },
    });
    const { session_id: session } = JSON.parse(toLines(stdout)[0]!) as { session_id: string };
    const show = async (...args: readonly string[]) => {
      const shown = await runSheaf(["show", session, ...args], { cwd, home });
      expect([shown.code, shown.stderr]).toEqual([0, ""]);
      expect((await runSheaf(["show", session, ...args], { cwd, home })).stdout).toBe(shown.stdout);
      return shown.stdout;
    };
    const message = "the process that wrote this response ended before it was complete: send the message again";
    expect(await show("--output-format", "text")).toBe(`What is there.\nsheaf: INTERRUPTED: ${message}\n`);
    const error = { code: "INTERRUPTED", message };
    const result = { subtype: "error", is_error: true, result: "What is there.", session_id: session, error };
    expect(JSON.parse(await show("--output-format", "json"))).toMatchObject(result);
    expect(JSON.parse(await show("--output-format", "json", "--compat", "cursor-2026"))).toMatchObject(result);
    expect(parseStream(await show()).at(-1)).toMatchObject(result);
    const documents = JSON.parse(await show("--output-format", "documents")) as { documents: readonly object[] };
    expect(documents).toMatchObject({ status: "error" });
    expect(documents.documents.at(-1)).toMatchObject({ type: "error", content: message });
    const events = toLines(await show("--output-format", "documents-stream"));
    expect(JSON.parse(events.at(-1)!)).toMatchObject({ event: "done", data: { status: "error" } });
    // What has an end can be taken elsewhere.
    const exported = await runSheaf(["export", session, "--output", "session.json"], { cwd, home });
    expect([exported.code, exported.stderr]).toEqual([0, ""]);
    expect((await runSheaf(["import", "session.json"], { cwd, home: join(cwd, "elsewhere") })).stderr).toBe("");
    expect((await runSheaf(["fork", session], { cwd, home })).code).toBe(0);
  });

  test(
    verifies(["C20", "C31"], "show of a run that goes on prints its beginning, and says that it is one"),
    async () => {
      const cwd = folders.newFolder({
        "s.json": JSON.stringify({ turns: [{ events: [{ text: "What is there." }, { stall: true }] }] }),
      });
      const home = join(cwd, "home");
      let shown: Promise<SheafResult> | undefined;
      let ended: Promise<readonly SheafResult[]> | undefined;
      const session = "5e0c2f64-8f0b-4f6e-9d1a-3b7c2a90d411";
      await runProgram(["-p", "--model", "scripted:s.json", "--session-id", session, "go"], {
        cwd,
        home,
        onOutput: (output, child) => {
          if (!output.includes("What is there.") || shown) return;
          shown = runSheaf(["show", session], { cwd, home });
          const others = ["export", "test add --name a --trust", `diff ${session}`].map((words) =>
            runSheaf([...words.split(" "), session], { cwd, home }),
          );
          ended = Promise.all(others);
          void Promise.allSettled([shown, ended]).finally(() => child.kill("SIGKILL"));
        },
      });
      for (const other of await ended!) {
        expect([other.code, other.stdout, other.stderr]).toMatchObject([
          9,
          "",
          expect.stringContaining("CONVERSATION_BUSY"),
        ]);
      }
      const { code, stdout, stderr } = (await shown)!;
      expect([code, stderr]).toEqual([
        9,
        expect.stringMatching(/^sheaf: CONVERSATION_BUSY: .* still being written.*\n$/),
      ]);
      expect(parseStream(stdout).map(({ type }) => type)).toEqual(["system", "user", "assistant"]);
    },
  );

  test("a conversation that was cut goes on", async () => {
    const home = join(folders.newFolder(), "home");
    const script = join(folders.path, "cut.json");
    const turns = [
      { events: [{ text: "Begun. " }, { call: { tool: "run_terminal_cmd", arguments: { command: "sleep 20" } } }] },
      { events: [{ text: "Gone on." }] },
    ];
    writeFileSync(script, JSON.stringify({ turns }));
    const args = ["-p", "--force", "--model", `scripted:${script}`];
    const cut = await runProgram([...args, "go"], {
      cwd: folders.path,
      home,
      onOutput: (output, child) => {
        if (output.includes('"started"')) child.kill("SIGKILL");
      },
    });
    const { session_id: session } = JSON.parse(toLines(cut.stdout)[0]!) as { session_id: string };
    const next = await runSheaf([...args, "--resume", session, "go on"], { cwd: folders.path, home });
    expect([next.code, next.stderr]).toEqual([0, ""]);
    expect(parseStream(next.stdout).at(-1)!.result).toBe("Gone on.");
  });
});

const long = { turns: [{ events: [{ text: "word ", repeat: 60_000, group: 20 }] }] };

test(
  verifies(["C20", "C22", "R-71"], "a store that refuses the end of a run: no format says that it is complete"),
  async () => {
    const cwd = folders.newFolder({ "script.json": JSON.stringify({ turns: [{ events: [{ text: "Done." }] }] }) });
    const home = join(cwd, "home");
    mkdirSync(home);
    await createSqliteStore(join(home, "sheaf.db")).close();
    refuseEvents(join(home, "sheaf.db"), "run_end");
    const model = ["--model", "scripted:script.json"];
    for (const format of ["text", "json", "stream-json", "documents", "documents-stream"]) {
      const { code, stdout, stderr } = await runSheaf(["-p", "--output-format", format, ...model, "go"], { cwd, home });
      expect([format, code, stderr]).toEqual([
        format,
        9,
        expect.stringMatching(/^sheaf: STORAGE_LOCKED: [^\n]*refused/),
      ]);
      expect(stdout).not.toMatch(/"subtype":"success"|"status":"completed","usage/);
      if (format === "stream-json")
        expect(parseStream(stdout).at(-1)).toMatchObject({ error: { code: "STORAGE_LOCKED" } });
    }
    const input = `${JSON.stringify({ type: "user", message: { role: "user", content: "go" } })}\n`;
    const twoWay = await runSheaf(["-p", "--input-format", "stream-json", ...model], { cwd, home, input });
    expect(twoWay.code).toBe(9);
    expect(parseStream(twoWay.stdout).at(-1)).toMatchObject({ error: { code: "STORAGE_LOCKED" } });
    const editor = await startEditor(cwd, model, { home });
    const { agent } = editor.connection;
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
    const prompt = agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text: "go" }] });
    await expect(prompt).rejects.toThrow(/refused/);
  },
);

describeWithNamespaces("the disk of the store", () => {
  test(
    verifies(["C20", "C22", "R-02"], "that becomes full ends the run with STORAGE_FULL, and what was stored stays"),
    async () => {
      const cwd = folders.newFolder({ "script.json": JSON.stringify(long) });
      const home = join(cwd, "home");
      mkdirSync(home);
      // The store is copied out of the namespace when the run has ended, so that it can be looked at.
      const copy = join(cwd, "copy");
      mkdirSync(copy);
      const inner = `mount -t tmpfs -o size=512k tmpfs ${home} && "$@"; code=$?; cp ${home}/sheaf.db* ${copy}; exit $code`;
      const { code, stdout, stderr } = await runProgram(["-p", "--model", "scripted:script.json", "go"], {
        cwd,
        home,
        wrapper: ["unshare", "-rm", "sh", "-c", inner, "sh"],
      });
      expect(stderr).toMatch(/^sheaf: STORAGE_FULL: [^\n]*sheaf\.db[^\n]*--no-save\n$/);
      expect(code).toBe(9);
      const lines = parseStream(stdout);
      expect(lines.at(-1)).toMatchObject({
        type: "result",
        subtype: "error",
        error: { code: "STORAGE_FULL", retryable: true },
      });
      const store = createSqliteStore(join(copy, "sheaf.db"));
      const [conversation] = await store.listConversations({ limit: 1 });
      const events = await store.readEvents((await store.listResponses(conversation!.id))[0]!.id);
      await store.close();
      const storedText = events.flatMap((event) => (event.type === "text_delta" ? [event.text] : [])).join("");
      expect(storedText).toContain(String(lines.at(-1)!.result));
      expect(storedText.length).toBeGreaterThan(1000);
    },
  );

  test(verifies("R-90", "that is full lets ls and rm make room"), async () => {
    const short = { turns: [{ events: [{ text: "word ", repeat: 9000, group: 20 }] }] };
    const cwd = folders.newFolder({ "script.json": JSON.stringify(short) });
    const home = join(cwd, "home");
    mkdirSync(home);
    const fill = `dd if=/dev/zero of=${home}/filler bs=1k conv=notrunc oflag=append 2>/dev/null`;
    const sheaf = 'env -u NODE_COMPILE_CACHE "$1" "$2"';
    // The second one leaves compiled code again.
    const list = `${sheaf} ls >listed`;
    const remove = `${sheaf} rm "$(cut -d " " -f 1 listed)"`;
    const inner = `mount -t tmpfs -o size=40m tmpfs ${home} && env -u NODE_COMPILE_CACHE "$@" && { ${fill}; ${list} && ${list} && { ${fill}; ${remove}; }; } && ${sheaf} ls`;
    const options = { cwd, home, wrapper: ["unshare", "-rm", "sh", "-c", inner, "sh"] };
    const { code, stdout, stderr } = await runProgram(["-p", "--model", "scripted:script.json", "go"], options);
    expect([code, stderr]).toEqual([0, ""]);
    expect(readFileSync(join(cwd, "listed"), "utf8")).toMatch(/^[-\da-f]{36} .* go\n$/);
    expect(stdout).toMatch(/There is no session/);
  });

  test(verifies("C20", "that is read-only is reported before anything runs"), async () => {
    const cwd = folders.newFolder({ "script.json": JSON.stringify(long) });
    const home = join(cwd, "home");
    mkdirSync(home);
    const setup = `mount -t tmpfs -o ro tmpfs ${home}`;
    const { code, stdout, stderr } = await runProgram(["-p", "--model", "scripted:script.json", "go"], {
      cwd,
      home,
      wrapper: toNamespaceWrapper(setup),
    });
    expect(code).toBe(9);
    expect(stderr).toMatch(/^sheaf: STORAGE_LOCKED: [^\n]*sheaf\.db[^\n]*SHEAF_HOME[^\n]*\n$/);
    expect(parseStream(stdout).at(-1)).toMatchObject({ subtype: "error", error: { code: "STORAGE_LOCKED" } });
    const unsaved = await runProgram(["-p", "--no-save", "--model", "scripted:script.json", "go"], {
      cwd,
      home,
      wrapper: toNamespaceWrapper(setup),
    });
    expect([unsaved.code, unsaved.stderr]).toEqual([0, ""]);
  });
});

describe("a place where there can be no store", () => {
  const places = ["/proc/none/a", "/proc/none", "/proc", "/dev/null", "/dev/null/a"] as const;

  test.each(places)(
    verifies(["C20", "C22"], "%s is reported at once, by each command that would write there"),
    async (home) => {
      skipIfMissing(notLinux);
      const cwd = folders.newFolder();
      const run = (...words: readonly string[]) => runSheaf(words, { cwd, home });
      const prompt = await run("-p", "--model", "offline", "hello");
      const isStoreFault =
        /^sheaf: STORAGE_LOCKED: the store [^\n]*sheaf\.db[^\n]*SHEAF_HOME[^\n]*, or add --no-save\n$/;
      expect([prompt.code, prompt.stderr]).toEqual([9, expect.stringMatching(isStoreFault)]);
      expect(parseStream(prompt.stdout).at(-1)).toMatchObject({ error: { code: "STORAGE_LOCKED" } });
      const unsaved = await run("-p", "--model", "offline", "--no-save", "hello");
      expect([unsaved.code, unsaved.stderr]).toEqual([0, ""]);
      const isFileFault =
        /^sheaf: CONFIG_INVALID: [^\n]* cannot be written \(E[A-Z]+\): check the permissions of its folder, or set SHEAF_HOME\n$/;
      for (const words of [
        ["trust", "."],
        ["mcp", "add", "a", "--", "b"],
        ["serve", "--port", "0", "--model", "offline"],
      ]) {
        const { code, stdout, stderr } = await run(...words);
        expect([code, stdout, stderr], words.join(" ")).toEqual([2, "", expect.stringMatching(isFileFault)]);
      }
    },
  );
});
