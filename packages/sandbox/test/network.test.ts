/** Commands reach the hosts that rules allow, by the proxy alone (S-32, S-33). */
import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCommandNetwork } from "@sheaf/permissions/decide-network";
import { verifies } from "../../../test/support/verifies.ts";
import { createFolder, describeWithSandbox, runHeld } from "./sandbox-run.ts";

/** A server of this machine, which stands for `allowed.test`. */
const server = createServer((socket) => socket.end("reached\n"));
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => void server.close());

const networkPorts = {
  resolveHost: async () => [{ address: "127.0.0.1", family: 4 }],
  isAllowed: (address: string) => address === "127.0.0.1",
};

const tunnel = (target: string): string =>
  `exec 8<>"/dev/tcp/\${https_proxy:7:9}/\${https_proxy##*:}" && printf 'CONNECT ${target} HTTP/1.1\\r\\n\\r\\n' >&8 && cat <&8`;

describeWithSandbox("network of commands", () => {
  const network = createCommandNetwork({ allow: ["Network(*.test)"], deny: ["Network(denied.test)"] });
  const run = (command: string) =>
    runHeld(command, createFolder("workspace"), {}, undefined, { network, networkPorts });

  test(verifies(["S-32", "S-33", "N38"], "an allowed host is reached, and the documents say so"), async () => {
    const outcome = await run(tunnel(`allowed.test:${port}`));
    expect(outcome).toMatchObject({ exitCode: 0, refusals: [], permissions: ["network"] });
    expect(outcome.stdout).toMatch(/^HTTP\/1\.1 200 [\s\S]*reached\n$/);
  });

  test(verifies("S-32", "others are refused, and the refusals name the rule that would help"), async () => {
    const outcome = await run(`${tunnel("other.example:443")}; ${tunnel("denied.test:443")}`);
    expect(outcome.stdout).toMatch(/403 Forbidden[\s\S]*403 Forbidden/);
    expect(outcome.refusals).toEqual([
      'The network refused other.example:443: no rule allows it, the user passes --allow "Network(other.example)".',
      "The network refused denied.test:443: the rule Network(denied.test) denies it.",
    ]);
  });

  test(verifies("S-32", "past the proxy there is nothing, also with one"), async () => {
    const { stdout, stderr } = await run(
      `env -u https_proxy cat < /dev/tcp/127.0.0.1/${port}; cat < /dev/tcp/192.0.2.1/443; cat < /dev/udp/192.0.2.1/53; tail -n +3 /proc/net/dev | wc -l`,
    );
    expect(stdout).toBe("1\n");
    expect(stderr).toMatch(/refused[\s\S]*unreachable[\s\S]*unreachable/);
  });

  test(verifies("S-30", "with a network, a command has no descriptor, capability or namespace more"), async () => {
    const { stdout } = await run(
      // Its output, its errors, and the folder that is listed.
      "ls -l /proc/self/fd | grep -e '->' | grep -vc /dev/null; grep CapEff /proc/self/status; nsenter --net=/proc/1/ns/net true || echo held",
    );
    expect(stdout).toBe("3\nCapEff:\t0000000000000000\nheld\n");
  });

  test(verifies("S-32", "without a rule there is no proxy and no variable of one"), async () => {
    const { stdout, stderr } = await runHeld("env | grep -i proxy; cat < /dev/tcp/127.0.0.1/3128");
    expect(stdout).toBe("");
    expect(stderr).toContain("refused");
  });
});
