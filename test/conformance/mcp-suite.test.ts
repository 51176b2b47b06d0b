/** The suite of MCP's authors for clients, as it comes from the registry: Sheaf's servers and login against its servers. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { installClients } from "../support/clients.ts";
import { chooseRows } from "../support/depth.ts";
import { describeWhere } from "../support/describe-where.ts";
import { createTestFolder, runProgram } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const clients = folders.newFolder();
const missing = await installClients(clients);
const program = join(clients, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const client = `${process.execPath} --conditions=sheaf-source ${join(import.meta.dirname, "../support/suite-client.ts")}`;

/** Protocols of today; an older one has scenarios of its own. */
const versions = ["2025-11-25", "2026-07-28"];

/** Scenarios that every change runs, beside some of the others. */
const always: ReadonlySet<string> = new Set([
  "tools_call",
  "elicitation-sep1034-client-defaults",
  "sse-retry",
  "auth/scope-step-up",
]);

/** Scenarios that do not apply, and why. */
const leftOut: Readonly<Record<string, string>> = {
  "auth/2025-03-26-oauth-endpoint-fallback": "a server that describes no login does not say that it has PKCE (S-171)",
  "auth/client-credentials-jwt": "a person logs in (C100)",
  "auth/client-credentials-basic": "a person logs in (C100)",
  "auth/enterprise-managed-authorization": "a person logs in (C100)",
  "auth/wif-jwt-bearer": "a person logs in (C100)",
  "auth/dpop": "an extension that Sheaf does not have",
  "auth/dpop-nonce": "an extension that Sheaf does not have",
  "sep-2640-client-no-prefetch": "an extension that Sheaf does not have",
  "sep-2640-client-verify-digest": "an extension that Sheaf does not have",
  "sep-2640-client-verify-size": "an extension that Sheaf does not have",
  "sep-2640-client-verify-frontmatter": "an extension that Sheaf does not have",
};

const runSuite = (args: readonly string[]) => {
  const home = folders.newFolder();
  return runProgram(args, { program, cwd: home, home });
};

/** Each scenario of the suite with each version that it has. */
async function listScenarios(): Promise<{ readonly name: string; readonly version: string }[]> {
  const { stdout } = await runSuite(["list", "--client"]);
  const lines = [...stdout.matchAll(/^ {2}- (\S+) \[(.*)\]$/gm)];
  return lines.flatMap(([, name = "", listed = ""]) => {
    const all = listed.split(",");
    const chosen = versions.filter((version) => all.includes(version));
    return (chosen.length > 0 ? chosen : all).map((version) => ({ name, version }));
  });
}

const scenarios = missing ? [] : await listScenarios();

describeWhere("the conformance suite of MCP", missing, () => {
  test("what is left out is in the suite", () => {
    expect(scenarios.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(leftOut)));
  });

  const rows = scenarios.filter(({ name }) => !(name in leftOut));
  const [main, others] = [true, false].map((isMain) => rows.filter(({ name }) => always.has(name) === isMain));
  test.each([...main!, ...chooseRows(others!, 3)])(
    verifies("C209", "$name passes in MCP $version"),
    async ({ name, version }) => {
      const args = ["client", "--command", client, "--scenario", name, "--spec-version", version];
      const { code, stdout, stderr } = await runSuite(args);
      expect({ code, problem: code === 0 ? "" : `${stdout}\n${stderr}` }).toEqual({ code: 0, problem: "" });
    },
    60_000,
  );
});
