/** Names of models, and their keys: where they come from, and where they never go. */
import { chmodSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { type IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { serveHttp } from "../support/http-server.ts";
import { skipIfMissing } from "../support/describe-where.ts";
import { findMissing } from "../support/programs.ts";
import {
  createTestFolder,
  parseStream,
  type ProgramOptions,
  runAsNeeded,
  type SheafOptions,
  type SheafResult,
} from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();

/** Every output of every run of this file. */
const outputs: string[] = [];

async function run(args: readonly string[], options: ProgramOptions): Promise<SheafResult> {
  const result = await runAsNeeded(args, options);
  outputs.push(result.stdout, result.stderr);
  return result;
}

interface SeenRequest {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Command lines of all processes that held a canary when the request came. */
  readonly exposed: readonly string[];
}

/** A provider of the tests: a list of models, and one answer to each prompt. */
async function createProvider() {
  const provider = {
    seen: [] as SeenRequest[],
    /** Status of all answers; 200 answers properly. */
    status: 200,
    /** Where a redirect leads. */
    location: "",
  };
  const chunk = (delta: object, finish: string | null): string =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const address = await serveHttp((request, response) => {
    request.resume();
    const { url = "", headers } = request;
    provider.seen.push({ url, headers, exposed: findExposed() });
    if (provider.status !== 200) {
      const { authorization = "" } = headers;
      response.writeHead(provider.status, provider.location === "" ? {} : { location: provider.location });
      // Servers do repeat the key in what they say.
      const message = `bad key ${authorization.replace("Bearer ", "")}`;
      response.end(JSON.stringify({ error: { message, code: "x" } }));
    } else if (url.startsWith("/v1/models")) {
      const data = [{ id: "small", max_model_len: 32_768 }, { id: "large\u001b[2J" }, { noId: true }];
      response.end(JSON.stringify({ data }));
    } else {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`${chunk({ role: "assistant", content: "Hello." }, null)}${chunk({}, "stop")}data: [DONE]\n\n`);
    }
  }, afterAll);
  return Object.assign(provider, { address: `${address}/v1` });
}

function findExposed(): string[] {
  if (process.platform !== "linux") return [];
  return globSync("/proc/[0-9]*/cmdline").flatMap((file) => {
    try {
      const text = readFileSync(file, "utf8");
      return text.includes("CANARY") ? [text] : [];
    } catch {
      return [];
    }
  });
}

const [provider, other] = [await createProvider(), await createProvider()];
/** An address at which nothing listens any more. */
const deadAddress = `${await serveHttp(
  () => undefined,
  (end) => end(),
)}/v1`;

/** What `sheaf doctor` finds, by name of the check. Its provider does not answer. */
async function checkMachine(options: SheafOptions): Promise<Record<string, string>> {
  const { stdout } = await run(["doctor", "--json", "--base-url", deadAddress], options);
  const { checks } = JSON.parse(stdout) as { checks: { name: string; found: string }[] };
  return Object.fromEntries(checks.map(({ name, found }) => [name, found]));
}

function newPlace(): SheafOptions & { readonly home: string } {
  const folder = folders.newFolder();
  const [cwd, home] = [join(folder, "work"), join(folder, "home")];
  mkdirSync(cwd);
  mkdirSync(home);
  return { cwd, home };
}

function writeConfig(home: string, value: unknown): void {
  writeFileSync(join(home, "config.json"), typeof value === "string" ? value : JSON.stringify(value));
}

/** An endpoint named `lab` at the test's server, which needs a key. */
const toLabConfig = (): object => ({
  endpoints: { lab: { protocol: "openai-chat", baseUrl: provider.address, apiKeyEnv: "LAB_KEY" } },
});

describe("the workspace", () => {
  test(verifies(["S-01", "S-06"], "has no say in models, servers and keys"), async () => {
    const { cwd, home } = newPlace();
    const config = JSON.stringify({
      model: "evil/m",
      endpoints: { evil: { protocol: "openai-chat", baseUrl: other.address } },
    });
    const credentials = JSON.stringify({ version: 1, keys: { anthropic: "planted-key" } });
    const variables = `SHEAF_MODEL=evil/m\nANTHROPIC_API_KEY=planted-key\nSHEAF_HOME=${cwd}\nOPENAI_BASE_URL=${other.address}\n`;
    for (const folder of [".", ".sheaf", "sheaf", ".config/sheaf", ".local/share/sheaf", ".git"]) {
      mkdirSync(join(cwd, folder), { recursive: true });
      writeFileSync(join(cwd, folder, "config.json"), config);
      writeFileSync(join(cwd, folder, "credentials.json"), credentials, { mode: 0o600 });
    }
    writeFileSync(join(cwd, "sheaf.json"), config);
    writeFileSync(join(cwd, ".env"), variables);
    writeFileSync(join(cwd, ".env.local"), variables);

    // Without SHEAF_HOME the folders of the platform count; a relative one would lie in the workspace.
    const platform = { SHEAF_HOME: "", HOME: home, XDG_CONFIG_HOME: ".", XDG_DATA_HOME: "." };
    for (const environment of [{}, platform]) {
      const options = { cwd, home, environment };
      const none = await run(["-p", "go"], options);
      expect([none.code, none.stderr]).toEqual([3, expect.stringContaining("no model is chosen")]);
      const evil = await run(["-p", "--model", "evil/m", "go"], options);
      expect([evil.code, evil.stderr]).toEqual([4, expect.stringContaining('"evil/m" is unknown')]);
      const keyless = await run(["-p", "--model", "anthropic/m", "go"], options);
      expect([keyless.code, keyless.stderr]).toEqual([3, expect.stringContaining("ANTHROPIC_API_KEY")]);
      const { model, keys } = await checkMachine(options);
      expect([model, keys]).toEqual(["no model is chosen", expect.stringMatching(/^none; /)]);
    }
    expect(other.seen).toEqual([]);
  });
});

describe("the configuration", () => {
  test.each([
    ['{"model": "offline",}', "line 1, column 21"],
    ['{"modle": "offline"}', 'there is no key "modle" (did you mean "model"?)'],
    ['{"budgets": {"maxTurns": "3"}}', "budgets.maxTurns"],
  ])(verifies(["S-04", "C20", "C22"], "%s ends every run, with file and place"), async (text, place) => {
    const { cwd, home } = newPlace();
    writeConfig(home, text);
    for (const args of [["-p", "--model", "offline", "go"], ["models"]]) {
      const { code, stdout, stderr } = await run(args, { cwd, home });
      expect(code).toBe(2);
      expect(stderr).toMatch(/^sheaf: CONFIG_INVALID: [^\n]+\n$/);
      expect(stderr).toContain(join(home, "config.json"));
      expect(stderr).toContain(place);
      if (args[0] === "-p") {
        expect(parseStream(stdout).at(-1)).toMatchObject({ subtype: "error", error: { code: "CONFIG_INVALID" } });
      }
    }
  });

  test(verifies(["C20", "C24"], "names the model and the budgets"), async () => {
    const { cwd, home } = newPlace();
    writeConfig(home, { ...toLabConfig(), model: "lab/m", budgets: { maxTurns: 1 } });
    const { code, stdout } = await run(["-p", "go"], { cwd, home, environment: { LAB_KEY: "k" } });
    expect(code).toBe(0);
    expect(parseStream(stdout)[0]).toMatchObject({ model: "lab/m", apiKeySource: "env" });
    const script = join(cwd, "script.json");
    const turn = { events: [{ call: { tool: "list_dir", arguments: {} } }] };
    writeFileSync(script, JSON.stringify({ turns: [turn], after: "repeat_last" }));
    const limited = await run(["-p", "--model", `scripted:${script}`, "go"], { cwd, home });
    expect([limited.code, limited.stderr]).toEqual([7, expect.stringContaining("BUDGET_TURNS")]);
  });
});

describe("keys", () => {
  test(verifies("C5", "apiKeySource tells where the key came from: flag, then environment, then login"), async () => {
    const { cwd, home } = newPlace();
    writeConfig(home, toLabConfig());
    const login = await run(["login", "lab"], { cwd, home, input: "CANARY-login\n" });
    expect([login.code, login.stderr]).toEqual([0, ""]);
    const environment = { LAB_KEY: "CANARY-env" };
    const cases = [
      ["login", [], {}],
      ["env", [], environment],
      ["flag", ["--api-key", "CANARY-flag"], environment],
    ] as const;
    for (const [source, flags, variables] of cases) {
      const { code, stdout, stderr } = await run(["-p", "--model", "lab/m", ...flags, "go"], {
        cwd,
        home,
        environment: variables,
      });
      expect([code, stderr]).toEqual([0, ""]);
      const lines = parseStream(stdout);
      expect(lines[0]).toMatchObject({ apiKeySource: source, model: "lab/m" });
      expect(lines.at(-1)).toMatchObject({ subtype: "success", result: "Hello." });
      expect(provider.seen.at(-1)!.headers.authorization).toBe(`Bearer CANARY-${source}`);
    }
    expect(provider.seen.flatMap(({ exposed }) => exposed)).toEqual([]);
  });

  test(verifies(["C5", "S-42"], "a server without a key gets none, nor one of another provider"), async () => {
    const { cwd, home } = newPlace();
    const environment = { OPENAI_API_KEY: "CANARY-openai", SHEAF_API_KEY: "CANARY-common" };
    const args = ["-p", "--model", "ollama/m", "--base-url", provider.address, "-H", "X-Team: a", "go"];
    const { code, stdout } = await run(args, { cwd, home, environment });
    expect(code).toBe(0);
    expect(parseStream(stdout)[0]).toMatchObject({ apiKeySource: "none" });
    const { headers } = provider.seen.at(-1)!;
    expect(headers).toMatchObject({ "x-team": "a" });
    expect(JSON.stringify(headers)).not.toContain("CANARY");
  });

  test(
    verifies(
      "S-42",
      "login takes a key from a pipe: 0600 in 0700; doctor tells where it is without the key; logout forgets it",
    ),
    async () => {
      const { cwd, home: above } = newPlace();
      const home = join(above, "sheaf");
      const file = join(home, "credentials.json");
      for (const name of ["anthropic", "openai"]) {
        const login = await run(["login", name], { cwd, home, input: `CANARY-${name}` });
        expect([login.code, login.stderr]).toEqual([0, ""]);
      }
      expect([statSync(file).mode & 0o777, statSync(home).mode & 0o777]).toEqual([0o600, 0o700]);
      expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
        version: 1,
        keys: { anthropic: "CANARY-anthropic", openai: "CANARY-openai" },
      });
      const environment = { GEMINI_API_KEY: "CANARY-gemini", SHEAF_MODEL: "anthropic/m" };
      const { model, keys } = await checkMachine({ cwd, home, environment });
      expect(model).toBe("anthropic/m (from SHEAF_MODEL), key: login");
      const places =
        "anthropic (sheaf login), openai (sheaf login), openai-chat (sheaf login), google (GEMINI_API_KEY)";
      expect(keys).toBe(`${places}; sheaf login keeps them in ${file}`);

      expect((await run(["logout", "openai"], { cwd, home })).stdout).toBe("Forgotten: the key of openai.\n");
      expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ version: 1, keys: { anthropic: "CANARY-anthropic" } });
      expect((await run(["logout"], { cwd, home })).code).toBe(0);
      expect(globSync("**", { cwd: home }).filter((name) => name.includes("credentials"))).toEqual([
        "credentials.json.lock",
      ]);
      const again = await run(["logout"], { cwd, home });
      expect([again.code, again.stderr]).toEqual([0, ""]);
    },
  );

  test(verifies("S-41", "login on a terminal does not show what is typed"), async () => {
    skipIfMissing(findMissing("script"));
    const { cwd, home } = newPlace();
    // Runs Sheaf on its own terminal; what it shows comes out of the pipe.
    const wrapper = ["sh", "-c", 'exec script -qec "$*" /dev/null', "sh"];
    let typed = false;
    const { stdout } = await run(["login", "openai"], {
      cwd,
      home,
      wrapper,
      hasOpenInput: true,
      onOutput(output, child) {
        if (typed || !output.includes("(not shown): ")) return;
        typed = true;
        child.stdin!.write("CANARY-typen\u007fd\r");
      },
    });
    const file = join(home, "credentials.json");
    expect(stdout).toBe(`Key of openai (not shown): \r\nThe key of openai is kept in ${file}.\r\n`);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ version: 1, keys: { openai: "CANARY-typed" } });
  });

  test(
    verifies(["S-41", "S-42"], "a refused, broken or redirected request tells no key, and no other host gets one"),
    async () => {
      const { cwd, home } = newPlace();
      writeConfig(home, toLabConfig());
      const environment = { LAB_KEY: "CANARY-lab" };
      const before = other.seen.length;
      try {
        for (const status of [401, 400, 302, 307]) {
          provider.status = status;
          provider.location = status < 400 ? other.address : "";
          for (const args of [
            ["-p", "--model", "lab/m", "--verbose", "go"],
            ["models", "lab", "--verbose"],
          ]) {
            const { code, stderr } = await run(args, { cwd, home, environment });
            expect(code).toBeGreaterThan(2);
            expect(stderr).toMatch(/^sheaf: (AUTH_REJECTED|PROVIDER_REJECTED): /);
          }
        }
      } finally {
        provider.status = 200;
        provider.location = "";
      }
      for (const { headers } of other.seen.slice(before)) expect(JSON.stringify(headers)).not.toContain("CANARY");
    },
  );

  test.each([
    [["login", "anthropic", "CANARY-word"], "USAGE"],
    [["login", "CANARY-word"], "USAGE"],
    [["login", "anthropic", "--api-key", "CANARY-flag"], "USAGE"],
    [["-p", "--model", "openai/m", "--api-key", "CANARY with blanks", "go"], "USAGE"],
    [["-p", "--model", "openai/m", "--api-key", "CANARY\u0007", "go"], "USAGE"],
    [["-p", "--model", "openai/m", "--base-url", "http://u:CANARY@127.0.0.1:9/v1", "go"], "USAGE"],
    [["-p", "--model", "openai/m", "-H", "X-Key: CANARY\u0007", "go"], "USAGE"],
    [["-p", "--model", "offline", "-H", "CANARY", "go"], "USAGE"],
    [
      [
        "-p",
        "--model",
        "openai/m",
        "--base-url",
        "http://127.0.0.1:1/v1",
        "--api-key",
        "CANARY",
        "--timeout",
        "1",
        "go",
      ],
      "",
    ],
    [["models", "openai", "--base-url", "http://127.0.0.1:1/v1", "--api-key", "CANARY", "--verbose"], "NETWORK"],
  ])(verifies(["S-41", "C20"], "%j fails without showing the key"), async (args, code) => {
    const { cwd, home } = newPlace();
    const result = await run(args, { cwd, home, input: "" });
    expect(result.code).not.toBe(0);
    expect(result.stderr).toMatch(new RegExp(`^sheaf: ${code || "[A-Z_]+"}: `));
    expect(result.stderr + result.stdout).not.toContain("CANARY");
  });

  test(verifies("S-42", "a file of keys that others can read is refused"), async () => {
    const { cwd, home } = newPlace();
    await run(["login", "openai"], { cwd, home, input: "CANARY-openai" });
    chmodSync(join(home, "credentials.json"), 0o644);
    for (const args of [
      ["-p", "--model", "openai/m", "go"],
      ["models", "openai"],
      ["login", "openai"],
    ]) {
      const { code, stderr } = await run(args, { cwd, home, input: "x" });
      expect([code, stderr]).toEqual([2, expect.stringContaining("mode 0644): run chmod 600")]);
    }
    // What needs no key is not disturbed.
    expect((await run(["-p", "--model", "offline", "go"], { cwd, home })).code).toBe(0);
  });
});

describe("sheaf models", () => {
  test(
    verifies(
      ["C20", "S-70", "R-26"],
      "lists what a provider offers, and tells in one line why another does not answer",
    ),
    async () => {
      const { cwd, home } = newPlace();
      writeConfig(home, {
        endpoints: {
          lab: { protocol: "openai-chat", baseUrl: provider.address, models: ["named"] },
          down: { protocol: "openai-chat", baseUrl: deadAddress, models: ["kept"] },
        },
      });
      const lab = await run(["models", "lab"], { cwd, home });
      expect([lab.code, lab.stderr, lab.stdout]).toEqual([0, "", "lab/named\nlab/small\nlab/large␛[2J\n"]);
      // The windows that it names are kept for the runs.
      const kept = readFileSync(join(home, "model-windows.json"), "utf8");
      expect(JSON.parse(kept)).toEqual({ "lab/small": 32_768 });
      const down = await run(["models", "down"], { cwd, home });
      expect([down.code, down.stdout]).toEqual([5, ""]);
      expect(down.stderr).toMatch(/^sheaf: NETWORK: [^\n]*down[^\n]*ECONNREFUSED[^\n]*\n$/);
      const all = await run(["models", "--format", "json"], { cwd, home });
      expect([all.code, all.stderr]).toEqual([0, ""]);
      const { builtIn, providers } = JSON.parse(all.stdout) as { builtIn: unknown; providers: unknown[] };
      expect(builtIn).toEqual(["offline", "scripted:FILE"]);
      expect(providers).toContainEqual({ provider: "lab", models: ["lab/named", "lab/small", "lab/large␛[2J"] });
      expect(providers).toContainEqual({
        provider: "down",
        models: ["down/kept"],
        problem: expect.any(String) as string,
      });
      const text = await run(["models"], { cwd, home });
      expect(text.stdout).toMatch(/^offline .*\nscripted:FILE /);
      expect(text.stdout).toContain("\nanthropic/ID\n  (");
    },
  );
});

test(verifies("S-41", "after all of this, no key is anywhere but in the key files"), () => {
  expect(outputs.length).toBeGreaterThan(80);
  expect(outputs.filter((output) => output.includes("CANARY"))).toEqual([]);
  const files = globSync("**/*", { cwd: folders.path, withFileTypes: true }).filter((entry) => entry.isFile());
  const holding = files
    .filter(({ name, parentPath }) => readFileSync(join(parentPath, name)).includes("CANARY"))
    .map(({ name }) => name);
  expect(new Set(holding)).toEqual(new Set(["credentials.json"]));
});
