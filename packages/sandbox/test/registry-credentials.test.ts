/** Commands get tokens for registries only where a rule of the user says so (S-104). */
import { mkdirSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { listCredentials, parseRule } from "@sheaf/permissions/rule";
import { toCredentialVariables } from "../src/hold/registry-credentials.ts";
import { environment } from "./run-command.ts";
import { createFolder, describeWithSandbox, runHeld } from "./sandbox-run.ts";

const files = {
  ".npmrc": "registry=https://registry.example/\n//registry.example/:_authToken=${COMPANY_TOKEN}\n",
  ".config/pip/pip.conf": "[global]\nindex-url = https://u:TOKEN-2@pip.example/simple\n",
  ".m2/settings.xml": "<settings><password>TOKEN-3</password></settings>",
  ".ssh/id": "TOKEN-4",
};
const read = `cat ${Object.keys(files)
  .map((name) => `~/${name}`)
  .join(" ")}; echo $COMPANY_TOKEN $NPM_TOKEN $PIP_INDEX_URL $OTHER`;

describeWithSandbox("tokens for registries", () => {
  test.each([
    { allow: [], tokens: [], permissions: [] },
    { allow: ["Credentials(@npm)"], tokens: ["{COMPANY_TOKEN}", "TOKEN-1", "TOKEN-5"], permissions: ["credentials"] },
    { allow: ["Credentials(@python)"], tokens: ["TOKEN-2", "TOKEN-6"], permissions: ["credentials"] },
    { allow: ["Credentials(@java)"], tokens: ["TOKEN-3"], permissions: ["credentials"] },
  ] as const)(verifies(["S-104", "S-33", "N38"], "reach commands with the rules $allow: $tokens"), async (expected) => {
    const home = createFolder("home", files);
    const variables = {
      ...environment,
      HOME: home,
      COMPANY_TOKEN: "TOKEN-1",
      NPM_TOKEN: "TOKEN-5",
      PIP_INDEX_URL: "https://u:TOKEN-6@pip.example",
      OTHER: "TOKEN-7",
    };
    const workspace = createFolder("workspace", { ".npmrc": "//registry.example/:_authToken=${OTHER}" });
    const credentials = listCredentials(expected.allow, []);
    const options = { credentials, variables: toCredentialVariables(credentials, [home], [workspace], variables) };
    const { output, permissions } = await runHeld(read, workspace, {}, variables, options);
    expect(output.match(/TOKEN-\d|\{COMPANY_TOKEN\}/g) ?? []).toEqual(expected.tokens);
    expect(permissions).toEqual(expected.permissions);
  });

  test.each([
    { allow: [], seen: "TOKEN-2 written\n" },
    { allow: ["Credentials(@npm)"], seen: "TOKEN-1 TOKEN-2 written\n" },
  ])(
    verifies(["S-104", "S-34"], "in a file that a variable names are seen with the rules $allow: $seen"),
    async (given) => {
      const own = join(createFolder("own", { npmrc: "TOKEN-1 " }), "npmrc");
      const workspace = createFolder("workspace", { npmrc: "TOKEN-2 " });
      for (const NPM_CONFIG_USERCONFIG of [own, join(workspace, "npmrc"), "/dev/null"]) {
        const variables = { ...environment, NPM_CONFIG_USERCONFIG, PIP_CONFIG_FILE: "/dev/null" };
        const options = { credentials: listCredentials(given.allow, []) };
        const command = `cat ${NPM_CONFIG_USERCONFIG === own ? own : ""} npmrc; echo > /dev/null && echo written`;
        const { output } = await runHeld(command, workspace, {}, variables, options);
        const shown = output.replace(/^cat: .*\n/m, "");
        expect(shown).toBe(NPM_CONFIG_USERCONFIG === own ? given.seen : "TOKEN-2 written\n");
      }
    },
  );
});

test(verifies("S-104", "is a rule for three package managers, and one that denies wins"), () => {
  expect(listCredentials(["Credentials(@npm)", "Credentials(@java)"], ["Credentials(@npm)"])).toEqual(["java"]);
  for (const text of ["Credentials(@rust)", "Credentials(*)", "Credentials(npm)", "Credentials(registry.example)"]) {
    expect(() => parseRule(text)).toThrow(/names no registries whose tokens commands can see \(@npm, @python, @java\)/);
  }
});

test(verifies("S-104", "gives no variable that only a file of a project names"), () => {
  const home = createFolder("home");
  const workspace = createFolder("workspace", { ".npmrc": "x=${AWS_SECRET}", "pip/pip.conf": "x=${AWS_SECRET}" });
  expect(toCredentialVariables(["npm"], [home], [], { AWS_SECRET: "x", HOME: home })).toEqual({});
  expect(toCredentialVariables(["npm"], [join(home, "none")], [], { NODE_AUTH_TOKEN: "x" })).toEqual({
    NODE_AUTH_TOKEN: "x",
  });
  // Variables of the user may name such a file; so may a link.
  mkdirSync(join(home, ".config"));
  symlinkSync(join(workspace, "pip"), join(home, ".config/pip"));
  const find = (NPM_CONFIG_USERCONFIG: string) => {
    const variables = { AWS_SECRET: "x", HOME: home, NPM_CONFIG_USERCONFIG };
    return toCredentialVariables(["npm", "python"], [home], [workspace], variables);
  };
  for (const file of [join(workspace, ".npmrc"), relative(process.cwd(), join(workspace, ".npmrc"))]) {
    expect(find(file)).toEqual({ NPM_CONFIG_USERCONFIG: file });
  }
  const own = join(createFolder("own", { npmrc: "x=${AWS_SECRET}" }), "npmrc");
  expect(find(own)).toEqual({ NPM_CONFIG_USERCONFIG: own, AWS_SECRET: "x" });
});
