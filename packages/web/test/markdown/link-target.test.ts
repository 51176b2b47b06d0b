import { expect, test } from "vitest";
import { toLinkTarget } from "../../src/markdown/link-target.ts";
import { verifies } from "../../../../test/support/verifies.ts";

const origin = "http://127.0.0.1:7433";

test.each([
  ["https://example.org/a?b#c", "https://example.org/a?b#c", "example.org", true],
  ["HTTPS://EXAMPLE.ORG", "https://example.org/", "example.org", true],
  ["https://github.com@evil.example/", "https://github.com@evil.example/", "evil.example", true],
  ["https://github.com:443@evil.example:8080/", "https://github.com:443@evil.example:8080/", "evil.example:8080", true],
  ["https://аpple.com/", "https://xn--pple-43d.com/", "xn--pple-43d.com", true],
  ["http://127.0.0.1:7433/v1/x", "http://127.0.0.1:7433/v1/x", "127.0.0.1:7433", false],
  ["http://localhost:7433/", "http://localhost:7433/", "localhost:7433", true],
  ["mailto:a@example.org", "mailto:a@example.org", "a@example.org", true],
  ["https://example.org\\@evil.example/", "https://example.org/@evil.example/", "example.org", true],
])(verifies("S-63", "%s leads to %s"), (address, href, place, isForeign) => {
  expect(toLinkTarget(address, origin)).toEqual({ href, place, isForeign });
});

test.each([
  "javascript:hit()",
  " javascript:hit()",
  "java\nscript:hit()",
  "\u0001javascript:hit()",
  "data:text/html,x",
  "vbscript:x",
  "blob:https://example.org/x",
  "file:///etc/passwd",
  "ftp://example.org/",
  "about:blank",
  "src/main.ts",
  "/v1/session",
  "//evil.example/x",
  "#fragment",
  "",
  "https://",
  "http://[",
])(verifies("S-63", "%j is no link"), (address) => {
  expect(toLinkTarget(address, origin)).toBeUndefined();
});
