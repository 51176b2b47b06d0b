import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { findProxy } from "../../src/config/proxy.ts";

const ownHosts = "localhost,127.0.0.1,::1,[::1]";

test("the variables that other programs read, small letters first; this machine is reached without one", () => {
  expect(findProxy({})).toBeUndefined();
  expect(findProxy({ NO_PROXY: "a.example", HTTP_PROXY: "" })).toBeUndefined();
  expect(findProxy({ HTTPS_PROXY: "http://proxy.example:3128" })).toEqual({
    HTTPS_PROXY: "http://proxy.example:3128/",
    NO_PROXY: ownHosts,
  });
  expect(
    findProxy({
      https_proxy: "one.example:1",
      HTTPS_PROXY: "http://two.example",
      http_proxy: "https://u:p@h",
      no_proxy: "x",
    }),
  ).toEqual({ HTTPS_PROXY: "http://one.example:1/", HTTP_PROXY: "https://u:p@h/", NO_PROXY: `x,${ownHosts}` });
});

test.each(["socks5://CANARY:1", "http://", "ht tp://CANARY", "CANARY proxy"])(
  verifies(["S-04", "S-42"], "%j is no proxy, and is not shown"),
  (value) => {
    const find = () => findProxy({ HTTPS_PROXY: value });
    expect(find).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    expect(find).toThrow(/^HTTPS_PROXY names no proxy: write http:\/\/HOST:PORT/);
  },
);
