/**
 * Runs Sheaf for the action. Inputs come by the environment (SHEAF_ACTION_…), results go to GITHUB_OUTPUT.
 * What a model writes is nobody's instruction: not for the runner, which reads commands in the log, nor as an output.
 */
import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, createWriteStream, existsSync, mkdirSync, openSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const prefix = "SHEAF_ACTION_";
const longestResult = 500_000;

const read = (name) => (process.env[`${prefix}${name}`] ?? "").trim();

const readSwitch = (name) => {
  const value = read(name);
  if (["", "true", "false"].includes(value)) return value === "true";
  throw new Error(`${name.toLowerCase()} is "${value}": write "true" or "false"`);
};

/** The arguments, without the prompt. */
function listArguments() {
  const flags = [
    "model",
    "fallback-model",
    "mode",
    "output-schema",
    "sandbox",
    "on-denied",
    "max-turns",
    "max-cost-usd",
    "timeout",
    "resume",
  ].flatMap((flag) => {
    const value = read(flag.toUpperCase().replaceAll("-", "_"));
    return value === "" ? [] : [`--${flag}=${value}`];
  });
  const lists = ["allow", "deny", "verify"].flatMap((flag) =>
    read(flag.toUpperCase())
      .split("\n")
      .flatMap((rule) => (rule.trim() === "" ? [] : [`--${flag}=${rule.trim()}`])),
  );
  const switches = ["force", "strict"].filter((name) => readSwitch(name.toUpperCase())).map((name) => `--${name}`);
  return ["-p", "--output-format=stream-json", ...flags, ...lists, ...switches];
}

/** Loads a profile with which bwrap can make namespaces on ubuntu-24.04. The kernel keeps it until the machine stops. */
const profile = "abi <abi/4.0>,\nprofile sheaf-bwrap /usr/bin/bwrap flags=(unconfined) { userns, }\n";

/** Makes the sandbox of Linux work where it can. Sheaf itself tells what is still missing. */
function setUpSandbox() {
  const isHeld = () => spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-all", "true"]).status === 0;
  const chosen = read("SANDBOX") || process.env.SHEAF_SANDBOX || "enabled";
  if (process.platform !== "linux" || chosen !== "enabled" || isHeld()) return;
  const asRoot = process.getuid() === 0 ? [] : ["sudo", "-n"];
  const runAsRoot = (words, input = "") => {
    const [program, ...args] = [...asRoot, ...words];
    spawnSync(program, args, { input, stdio: ["pipe", "ignore", "inherit"] });
  };
  if (spawnSync("bwrap", ["--version"]).error) {
    runAsRoot(["apt-get", "update", "--quiet=2"]);
    runAsRoot(["apt-get", "install", "--yes", "--quiet=2", "bubblewrap"]);
  }
  if (!isHeld()) runAsRoot(["apparmor_parser", "--replace"], profile);
}

/**
 * The command line of Sheaf, outside of the checkout: in there, commands could not change `node_modules`. Node 24 comes
 * along where the runner's own is older.
 */
function findProgram(folder) {
  const version = read("VERSION");
  if (version === "installed") return ["sheaf"];
  if (!/^[\w.^~-]+$/.test(version)) throw new Error(`version is "${version}": name a version of the npm package`);
  const isOld = Number(process.versions.node.split(".")[0]) < 24;
  const packages = [`sheaf@${version}`, ...(isOld ? ["node@24"] : [])];
  const args = ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", folder, ...packages];
  const { status, error } = spawnSync("npm", args, { stdio: "inherit" });
  if (error || status !== 0) throw new Error(`npm cannot install ${packages.join(" and ")}: see above`);
  const modules = join(folder, "node_modules");
  const node = isOld ? join(modules, "node/bin/node") : process.execPath;
  if (!existsSync(node))
    throw new Error("npm did not run the script of its package node: use actions/setup-node with 24");
  return [node, join(modules, "sheaf/bin/sheaf.js")];
}

/** Without what is the runner's own, and with the key under the name that Sheaf reads. */
function toEnvironment(folder) {
  const isRunners = (name) =>
    /^(SHEAF_ACTION_|ACTIONS_|INPUT_|GITHUB_(ENV|OUTPUT|PATH|STATE|STEP_SUMMARY)$)/.test(name);
  const kept = Object.entries(process.env).filter(([name]) => !isRunners(name));
  const key = read("API_KEY");
  return {
    // Nothing stays on a runner that others use, too.
    SHEAF_HOME: join(folder, "home"),
    ...Object.fromEntries(kept),
    ...(key !== "" && { SHEAF_API_KEY: key }),
  };
}

/** One line of the log for a person; undefined: none. */
function describe({ type, subtype, tool_call: call = {}, result }) {
  if (type === "result") return result;
  if (type !== "tool_call" || subtype !== "started") return undefined;
  const [[name, { args = {} }] = ["", {}]] = Object.entries(call);
  const [what = ""] = Object.values(args);
  return `> ${name.replace(/ToolCall$/, "")} ${String(what).split("\n", 1)[0].slice(0, 200)}`;
}

/** Runs it to its end. What it prints is no command to the runner (`::stop-commands::`). */
async function run([program, ...args], { prompt, stdin, cwd, env, logFile }) {
  const pause = randomUUID();
  const log = createWriteStream(logFile);
  process.stdout.write(`::stop-commands::${pause}\n`);
  const input = stdin === "" ? "pipe" : openSync(resolve(cwd, stdin), "r");
  const words = stdin === "" ? ["-"] : ["--", prompt];
  const child = spawn(program, [...args, ...words], { cwd, env, stdio: [input, "pipe", "pipe"] });
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(prompt);
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += chunk;
    process.stdout.write(chunk);
  });
  const ended = new Promise((done, fail) => {
    child.on("error", fail);
    child.on("close", (code) => done(code ?? 1));
  });
  let first;
  let last;
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      log.write(`${line}\n`);
      last = JSON.parse(line);
      first ??= last;
      const shown = describe(last);
      if (shown !== undefined) process.stdout.write(`${shown}\n`);
    }
    return { code: await ended, session: first?.session_id ?? "", last: last?.type === "result" ? last : {}, errors };
  } finally {
    // A line that is not JSON ends the reading, not the program.
    child.kill();
    await ended.catch(() => undefined);
    await new Promise((done) => void log.end(done));
    process.stdout.write(`\n::${pause}::\n`);
  }
}

/** The delimiter is one that nobody knows before, so that no answer can end its output and begin another. */
function writeOutput(name, value) {
  const delimiter = `end-${randomUUID()}`;
  appendFileSync(process.env.GITHUB_OUTPUT, `${name}<<${delimiter}\n${value}\n${delimiter}\n`);
}

function report(level, message) {
  const escaped = message.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  process.stdout.write(`::${level} title=Sheaf::${escaped}\n`);
}

/** For the page of the job. In a fence that no text of the model can end. */
function writeSummary({ code, last }) {
  const file = process.env.GITHUB_STEP_SUMMARY;
  if (!file) return;
  const { result = "", error, notices = [], refusals = [], num_turns: turns, total_cost_usd: cost, sandbox } = last;
  const facts = Object.entries({ turns, "cost in dollars": cost, sandbox }).filter(([, value]) => value !== undefined);
  const text = [
    error ? `${error.code}: ${error.message}` : `exit code ${code}`,
    ...facts.map(([name, value]) => `${name}: ${value}`),
    ...notices.filter(({ message }) => message !== error?.message).map(({ message }) => `notice: ${message}`),
    ...refusals
      .filter(({ reason }) => reason !== error?.message)
      .map(({ tool, reason }) => `refused: ${tool}: ${reason}`),
    "",
    result.slice(0, longestResult),
  ].join("\n");
  const fence = "`".repeat(Math.max(3, ...(text.match(/`+/g) ?? []).map(({ length }) => length + 1)));
  appendFileSync(file, `### Sheaf ${code === 0 ? "succeeded" : "failed"}\n\n${fence}text\n${text}\n${fence}\n`);
}

async function main() {
  const folder = join(process.env.RUNNER_TEMP ?? tmpdir(), `sheaf-${randomUUID()}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const logFile = join(folder, "run.ndjson");
  const cwd = resolve(process.env.GITHUB_WORKSPACE ?? ".", read("WORKING_DIRECTORY"));
  const args = listArguments();
  const fails = process.env[`${prefix}FAIL`] === undefined || readSwitch("FAIL");
  const prompt = process.env[`${prefix}PROMPT`] ?? "";
  const order = { prompt, stdin: read("STDIN"), cwd, env: toEnvironment(folder), logFile };
  setUpSandbox();
  const { code, session, last, errors } = await run([...findProgram(folder), ...args], order);
  writeSummary({ code, last });
  writeOutput("result", (last.result ?? "").slice(0, longestResult));
  writeOutput("structured-output", last.structured_output === undefined ? "" : JSON.stringify(last.structured_output));
  writeOutput("session-id", session);
  writeOutput("exit-code", code);
  writeOutput("error-code", last.error?.code ?? "");
  writeOutput("cost-usd", last.total_cost_usd ?? "");
  writeOutput("turns", last.num_turns ?? "");
  writeOutput("sandbox", last.sandbox ?? "");
  for (const [name, value = []] of [
    ["refusals", last.refusals],
    ["notices", last.notices],
  ])
    writeOutput(name, JSON.stringify(value));
  writeOutput("log-file", logFile);
  for (const { message } of last.notices ?? []) if (message !== last.error?.message) report("warning", message);
  for (const { tool, reason } of last.refusals ?? [])
    if (reason !== last.error?.message) report("warning", `refused: ${tool}: ${reason}`);
  if (code === 0) return 0;
  report("error", last.error ? `${last.error.code}: ${last.error.message}` : errors.trim() || `exit code ${code}`);
  return fails ? code : 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  report("error", error.message);
  process.exitCode = 1;
}
