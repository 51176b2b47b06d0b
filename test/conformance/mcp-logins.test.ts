/** Logins to tool servers, and their questions: with servers by the protocol's authors, as they come from the registry. */
import { spawn, type ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createStreamDecoder } from "@sheaf/protocol";
import { installClients } from "../support/clients.ts";
import { describeWhere } from "../support/describe-where.ts";
import { findFreePort } from "../support/reverse-proxy.ts";
import { startServer } from "../support/server.ts";
import {
  compiledCode,
  createTestFolder,
  parseStream,
  runProgram,
  runSheaf,
  type SheafResult,
} from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const clients = folders.newFolder();
const missing = await installClients(clients);
const published = join(clients, "node_modules/@modelcontextprotocol");

/** The example of the SDK that asks for a login, with its demo authorization server. */
async function startDemo(): Promise<{ url: string; stop: () => Promise<void> }> {
  const program = join(published, "sdk/dist/esm/examples/server/simpleStreamableHttp.js");
  const [MCP_PORT, MCP_AUTH_PORT] = [String(await findFreePort()), String(await findFreePort())];
  const environment = { PATH: process.env["PATH"], ...compiledCode, MCP_PORT, MCP_AUTH_PORT };
  const child = spawn(process.execPath, [program, "--oauth", "--oauth-strict"], { env: environment });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  };
  onTestFinished(stop);
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => {
      if (chunk.toString().includes("MCP Streamable HTTP Server listening")) resolve();
    });
    child.once("exit", () => reject(new Error("the example did not start")));
  });
  return { url: `http://localhost:${MCP_PORT}/mcp`, stop };
}

/** Runs `mcp login` and follows its address: as a browser here does, or by pasting where a browser elsewhere ends. */
async function logIn(place: { readonly cwd: string; readonly home: string }, pastes: boolean): Promise<SheafResult> {
  let isOpen = false;
  const follow = async (address: string, child: ChildProcess): Promise<void> => {
    const { headers } = await fetch(address, { redirect: "manual" });
    const target = headers.get("location")!;
    if (pastes) child.stdin?.write(`http://127.0.0.1:9/callback?state=x\n${target}\n`);
    else await fetch(target);
  };
  return runProgram(["mcp", "login", "demo", "--no-browser"], {
    ...place,
    hasOpenInput: true,
    onStart(child) {
      let stderr = "";
      child.stderr?.on("data", (chunk: Buffer) => {
        stderr += chunk.toString();
        const [address] = /http:\S+\/authorize\S+(?=\n)/.exec(stderr) ?? [];
        if (address === undefined || isOpen) return;
        isOpen = true;
        void follow(address, child);
      });
    },
  });
}

const toScript = (tool: string, args: object): string =>
  JSON.stringify({ turns: [{ events: [{ call: { tool, arguments: args } }] }, { events: [{ text: "Done." }] }] });

describeWhere("published servers", missing, () => {
  test(
    verifies(["C100", "S-170", "S-41"], "the SDK's example asks for a login, and a run uses it; nothing shows a token"),
    async () => {
      const { url, stop } = await startDemo();
      const home = folders.newFolder({ "config.json": JSON.stringify({ mcpServers: { demo: { url } } }) });
      const place = { cwd: folders.newFolder({ "s.json": toScript("mcp__demo__greet", { name: "Ada" }) }), home };
      const list = async (): Promise<string> => (await runSheaf(["mcp", "list"], place)).stdout;
      expect(await list()).toBe("demo: failed (it needs a login: run sheaf mcp login demo)\n");
      const first = await logIn(place, false);
      expect([first.code, first.stdout]).toEqual([0, "Logged in to demo.\n"]);
      expect(first.stderr).toMatch(/^Log in to demo at localhost:\d+, in a browser:\n/);
      const run = await runSheaf(["-p", "--model", "scripted:s.json", "--force", "--trust", "go"], place);
      expect(JSON.stringify(parseStream(run.stdout))).toContain("Hello, Ada!");
      const file = readdirSync(join(home, "mcp-logins")).find((name) => name.endsWith(".json"))!;
      const { accessToken } = JSON.parse(readFileSync(join(home, "mcp-logins", file), "utf8")) as {
        accessToken: string;
      };
      const exported = await runSheaf(["export", String(parseStream(run.stdout)[0]!.session_id)], place);
      expect(exported.stdout).toContain("Hello, Ada!");
      for (const { stdout, stderr } of [first, run, exported]) expect(stdout + stderr).not.toContain(accessToken);
      expect((await runSheaf(["mcp", "logout", "demo"], place)).stdout).toBe("Forgotten: the login to demo.\n");
      expect(await list()).toContain("it needs a login");
      const second = await logIn(place, true);
      expect([second.code, second.stderr]).toEqual([
        0,
        expect.stringContaining("This is not the address of this login"),
      ]);
      expect(await list()).toMatch(/^demo: ready/);
      await stop();
      expect(await list()).toMatch(/^demo: failed/);
      expect((await runSheaf(["mcp", "remove", "demo"], place)).stdout).toMatch(/config\.json, and its login\.\n$/);
      expect(readdirSync(join(home, "mcp-logins")).filter((name) => name.endsWith(".json"))).toEqual([]);
    },
  );

  test(
    verifies(["C101", "X59", "X8"], "everything asks: a client of the API corrects its answer and gives it"),
    async () => {
      const program = join(published, "server-everything/dist/index.js");
      const everything = { command: process.execPath, args: [program, "stdio"], env: compiledCode, timeoutSeconds: 3 };
      const home = folders.newFolder({ "config.json": JSON.stringify({ mcpServers: { everything } }) });
      const page = { url: "https://example.org/login", message: "Sign in", errorPath: true };
      const script = {
        turns: [
          { events: [{ call: { tool: "mcp__everything__trigger-elicitation-request", arguments: {} } }] },
          { events: [{ call: { tool: "mcp__everything__trigger-url-elicitation", arguments: page } }] },
          { events: [{ text: "Done." }] },
        ],
      };
      const server = await startServer({
        home,
        cwd: folders.newFolder(),
        script,
        args: ["--allow", "Mcp(everything:*)"],
      });
      const response = await server.chat({ message: "go", stream: true, approvals: "ask" });
      const decoder = createStreamDecoder();
      const text = new TextDecoder();
      const pages: string[] = [];
      const seen: { readonly event: string; readonly data: unknown }[] = [];
      for await (const chunk of response.body!) {
        for (const event of decoder.push(text.decode(chunk, { stream: true }))) {
          seen.push(event);
          if (event.event !== "approval_request") continue;
          const { approvalId, subject } = event.data;
          expect(subject).toMatchObject({ type: "server_question", server: "everything" });
          const id = response.headers.get("x-response-id");
          const answer = (editedArguments?: object) =>
            server.fetch(`/v1/responses/${id}/approvals/${approvalId}`, {
              method: "POST",
              headers: { "content-type": "application/json" },
              body: JSON.stringify({ optionId: "answer", editedArguments }),
            });
          if (typeof subject["url"] === "string") {
            pages.push(subject["url"]);
            expect((await answer()).status).toBe(202);
            continue;
          }
          const wrong = await answer({ name: "Ada", integer: 1000 });
          expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining("from 1 to 100")]);
          expect((await answer({ name: "Ada", integer: 7 })).status).toBe(202);
        }
      }
      expect(seen.filter(({ event }) => event === "approval_resolved")).toHaveLength(3);
      // The first one is an error of the call, which is then made again.
      expect(pages).toEqual(["https://modelcontextprotocol.io/", "https://example.org/login"]);
      expect(JSON.stringify(seen)).toContain("Favorite Integer: 7");
    },
  );
});
