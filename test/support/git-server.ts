/** A git server on this machine that speaks http and wants a password, as the large ones do. */
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface GitServer {
  /** `http://127.0.0.1:PORT`. */
  readonly address: string;
  /** Requests without the right credentials that got no answer. */
  readonly refused: () => number;
}

/** Serves the bare repositories in a folder, by `git http-backend`, until the end of the test. */
export async function startGitServer(folder: string, user: string, password: string): Promise<GitServer> {
  const wanted = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  let refused = 0;
  const server = createServer((request, response) => {
    if (request.headers.authorization !== wanted) {
      refused += 1;
      response.writeHead(401, { "WWW-Authenticate": 'Basic realm="git"' }).end();
      return;
    }
    const { pathname, search } = new URL(request.url ?? "/", "http://127.0.0.1");
    const child = spawn("git", ["http-backend"], {
      env: {
        PATH: process.env.PATH,
        GIT_PROJECT_ROOT: folder,
        GIT_HTTP_EXPORT_ALL: "1",
        GIT_CONFIG_NOSYSTEM: "1",
        HOME: folder,
        REMOTE_USER: user,
        REQUEST_METHOD: request.method,
        PATH_INFO: pathname,
        QUERY_STRING: search.slice(1),
        CONTENT_TYPE: request.headers["content-type"],
        HTTP_CONTENT_ENCODING: request.headers["content-encoding"],
        GIT_PROTOCOL: request.headers["git-protocol"] as string | undefined,
      },
    });
    request.pipe(child.stdin);
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("close", () => {
      const bytes = Buffer.concat(chunks);
      const end = bytes.indexOf("\r\n\r\n");
      const lines = bytes.subarray(0, end).toString().split("\r\n");
      const headers = Object.fromEntries(lines.map((line) => line.split(": ", 2) as [string, string]));
      response.writeHead(Number.parseInt(headers.Status ?? "200", 10), headers).end(bytes.subarray(end + 4));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, refused: () => refused };
}
