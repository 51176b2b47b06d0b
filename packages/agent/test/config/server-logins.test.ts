import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createServerLogins, type ServerLogin } from "../../src/config/server-logins.ts";
import { createTemporaryFolder } from "../../../base/test/files/temporary-workspace.ts";
import { startHolder } from "./lock-holder.ts";

const login: ServerLogin = {
  version: "1",
  name: "demo",
  url: "https://mcp.example/mcp",
  authorization: { issuer: "https://auth.example", token_endpoint: "https://auth.example/token" },
  client: { client_id: "c" },
  accessToken: "CANARY-at",
};

function createPlace() {
  const home = createTemporaryFolder();
  const logins = createServerLogins({ SHEAF_HOME: home });
  const findFile = (): string => {
    const folder = join(home, "mcp-logins");
    return join(
      folder,
      readdirSync(folder).find((name) => name.endsWith(".json"))!,
    );
  };
  return { logins, findFile };
}

test(verifies(["S-170", "S-42"], "a login that others can read, damaged or of another server is refused"), () => {
  const { logins, findFile } = createPlace();
  logins.write(login, login);
  expect(logins.read(login)).toEqual(login);
  expect(logins.list()).toEqual([login]);
  const file = findFile();
  const advice = expect.stringMatching(/^(?!.*CANARY).*demo/) as string;
  const refused = expect.objectContaining({ code: "CONFIG_INVALID", message: advice }) as Error;
  chmodSync(file, 0o644);
  expect(() => logins.read(login)).toThrow(refused);
  chmodSync(file, 0o600);
  for (const other of [
    '{"accessToken":"CANARY"',
    "{}",
    JSON.stringify({ ...login, url: "https://evil.example/mcp" }),
  ]) {
    writeFileSync(file, other);
    expect(() => logins.read(login), other).toThrow(refused);
  }
  logins.write(login, undefined);
  expect(logins.read(login)).toBeUndefined();
  expect(logins.list()).toEqual([]);
});

test(verifies("S-173", "who changes a login waits for another process, but not once that one is dead"), async () => {
  const { logins, findFile } = createPlace();
  logins.write(login, login);
  const kill = await startHolder(findFile());
  const order: string[] = [];
  const changing = logins.withLock(login, async () => void order.push("changed"));
  const late = logins.withLock(login, async () => void order.push("never"), AbortSignal.timeout(100));
  await expect(late).rejects.toThrow(/timeout/i);
  order.push("killed");
  kill();
  await changing;
  expect(order).toEqual(["killed", "changed"]);
});
