/** The chats of the examples, built from the packages as npm would publish them, at a real server. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { installClients } from "../support/clients.ts";
import { chooseRows } from "../support/depth.ts";
import { type Missing, skipIfMissing } from "../support/describe-where.ts";
import { checkFaults } from "../support/page.ts";
import { startServerProcess } from "../support/server.ts";
import { createTestFolder } from "../support/sheaf.ts";

const root = join(import.meta.dirname, "../..");
const folders = createTestFolder();
const folder = folders.newFolder({ "package.json": '{"type":"module"}' });
const modules = join(folder, "node_modules");
let missingReact: Missing | undefined;

function install(name: string): void {
  const target = join(modules, "@sheaf", name);
  mkdirSync(target, { recursive: true });
  const pack = ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder];
  const { stdout } = spawnSync("npm", pack, { cwd: join(root, "packages", name), encoding: "utf8" });
  spawnSync("tar", ["-xzf", join(folder, stdout.trim()), "--strip-components=1", "-C", target]);
}

const link = (from: string, name: string): void => symlinkSync(join(from, name), join(modules, name));

beforeAll(async () => {
  for (const name of ["protocol", "client"]) install(name);
  for (const name of ["esbuild", "@esbuild", "@noble"]) link(join(root, "node_modules"), name);
  cpSync(join(root, "examples"), join(folder, "examples"), { recursive: true });
  const clients = folders.newFolder({});
  missingReact = await installClients(clients);
  if (missingReact !== undefined) return;
  const installed = join(clients, "node_modules");
  for (const name of ["react", "react-dom", "scheduler", "@types", "csstype"]) link(installed, name);
}, 300_000);

const command = { tool: "run_terminal_cmd", arguments: { command: "echo tested > tested.txt" } };
const script = {
  turns: [{ events: [{ text: "I test it." }, { call: command }] }, { events: [{ text: "It works." }] }],
};

describeWithChromium("a chat of the examples", (browser) => {
  test.for(chooseRows(["chat-dom/chat.js", "chat-react/small.tsx", "chat-react/chat.tsx"], 2))(
    "%s: an approval that a reload does not lose, and the answer after it",
    async (name) => {
      if (name.includes("react")) skipIfMissing(missingReact);
      const cwd = folders.newFolder({ "a.txt": "" });
      const server = await startServerProcess({ cwd, script, args: ["--sandbox", "disabled"] });
      const env = { PATH: process.env.PATH, SHEAF_URL: server.address, SHEAF_TOKEN: server.token };
      const entry = join("examples", name);
      const own = spawn(process.execPath, ["examples/chat-server.ts", entry], { cwd: folder, env });
      onTestFinished(() => void own.kill());
      const [line] = (await once(own.stdout, "data")) as [Buffer];
      const page = await (await browser.newContext()).newPage();
      checkFaults(page);
      const address = /http:\S+/.exec(line.toString())![0];
      await page.goto(address);
      await page.getByLabel("Message").fill("Test it");
      await page.getByRole("button", { name: "Send" }).click();
      const allow = page.getByRole("button", { name: /^Allow once/ });
      await allow.waitFor();
      expect(await page.locator("body").innerText()).toContain("echo tested > tested.txt");
      await page.reload();
      await allow.waitFor();
      expect(existsSync(join(cwd, "tested.txt"))).toBe(false);
      await allow.click();
      await page.getByText("It works.").waitFor();
      expect(readdirSync(cwd)).toContain("tested.txt");
      await page.reload();
      await page.getByText("It works.").waitFor();
      expect(await page.getByText("Test it", { exact: true }).count()).toBe(1);
      const foreign = await fetch(`${address}/v1/models`, { headers: { origin: "http://evil.test" } });
      expect(foreign.status).toBe(403);
      const { conversations } = await (await fetch(`${address}/v1/conversations`)).json();
      const { turns } = await (await fetch(`${address}/v1/conversations/${conversations[0].id}`)).json();
      const events = `${address}/v1/responses/${turns[0].response.id}/events`;
      const rest = await (await fetch(events, { headers: { "last-event-id": "3" } })).text();
      expect(/^id: (\d+)$/m.exec(rest)).toMatchObject({ 1: "4" });
    },
  );
});

test("npm start in a copy of the React example finds the packages of its own project", async () => {
  skipIfMissing(missingReact);
  const copy = folders.newFolder({});
  cpSync(join(root, "examples"), join(copy, "examples"), { recursive: true });
  const project = join(copy, "examples/chat-react");
  rmSync(join(project, "node_modules"), { recursive: true, force: true });
  symlinkSync(modules, join(project, "node_modules"));
  const started = spawn("npm", ["start"], { cwd: project, detached: true });
  onTestFinished(() => void process.kill(-started.pid!));
  const lines = createInterface({ input: started.stdout });
  const shown: string[] = [];
  for await (const line of lines) if (shown.push(line) && line.startsWith("The page is")) break;
  expect(shown.at(-1)).toMatch(/^The page is at http:\/\/127\.0\.0\.1:\d+$/);
});

test("the React examples have no type error", () => {
  skipIfMissing(missingReact);
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const project = join("examples", "chat-react");
  const { status, stdout } = spawnSync(process.execPath, [compiler, "-p", project], { cwd: folder, encoding: "utf8" });
  expect([status, stdout]).toEqual([0, ""]);
});
