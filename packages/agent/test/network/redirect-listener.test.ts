import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { sendRaw } from "../../../../test/support/raw-http.ts";
import { openRedirectListener, parseRedirect } from "../../src/network/redirect-listener.ts";

test(verifies("S-171", "only the redirect of this login counts"), async () => {
  const listener = await openRedirectListener(0, "state-1");
  onTestFinished(() => listener.close());
  const { origin, port } = new URL(listener.url);
  const wrong = [
    "/callback?code=c",
    "/callback?code=c&state=state-2",
    "/callback?code=c&state=state-1&state=state-1",
    "/other?code=c&state=state-1",
    `/callback?code=${"c".repeat(9000)}&state=state-1`,
  ];
  for (const path of wrong) expect((await fetch(`${origin}${path}`)).status, path.slice(0, 60)).toBe(404);
  expect((await fetch(`${listener.url}?code=c&state=state-1`, { method: "POST" })).status).toBe(404);
  // A page of the web whose name leads to this machine.
  const rebound = `GET /callback?code=c&state=state-1 HTTP/1.1\r\nHost: evil.example:${port}\r\nConnection: close\r\n\r\n`;
  expect((await sendRaw(Number(port), rebound)).status).toBe(404);
  expect((await fetch(`${listener.url}?code=right&state=state-1`)).status).toBe(200);
  expect((await listener.redirected).get("code")).toBe("right");
});

test(verifies("C100", "an address that was pasted counts like a redirect"), () => {
  const url = "http://127.0.0.1:4000/callback";
  expect(parseRedirect(`${url}?code=c&state=s`, url, "s")?.get("code")).toBe("c");
  for (const text of [
    "",
    "c",
    "https://127.0.0.1:4000/callback?code=c&state=s",
    `${url}?code=c`,
    "http://evil/?state=s",
  ]) {
    expect(parseRedirect(text, url, "s"), text).toBeUndefined();
  }
});
