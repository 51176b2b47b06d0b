/** Lists of models: whom they ask, with which key. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { toUserFiles } from "@sheaf/base/paths";
import { askAllProviders } from "../src/model-names.ts";
import { findUserConfig } from "@sheaf/agent/config/config-file";
import { createTemporaryWorkspace } from "../../base/test/files/temporary-workspace.ts";

/** A proxy that connects to nobody. */
const asked: string[] = [];
const proxy = createServer().on("connect", ({ url = "" }, socket) => {
  asked.push(url);
  socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
});

beforeAll(() => new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve)));
afterAll(() => void proxy.close());

test.each([
  [{}, []],
  [{ SHEAF_MODEL: "anthropic/x" }, ["api.anthropic.com:443"]],
  [{ OPENAI_API_KEY: "key" }, ["api.openai.com:443"]],
])(
  verifies(["C5", "S-42"], "a key for any model is sent to no provider but that of %o"),
  async (variables, expected) => {
    const { port } = proxy.address() as AddressInfo;
    const environment = {
      ...variables,
      SHEAF_HOME: createTemporaryWorkspace().root,
      SHEAF_API_KEY: "common",
      HTTPS_PROXY: `http://127.0.0.1:${port}`,
    };
    const files = toUserFiles(environment);
    asked.length = 0;
    await askAllProviders({ flags: {}, environment, config: findUserConfig(files.config), files });
    expect([...new Set(asked)]).toEqual(expected);
  },
);
