/** The real nginx and Caddy in front of a server, with the configurations of `examples/proxy/` and a certificate made now. */
import { spawn, spawnSync, type SpawnOptionsWithStdioTuple } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { onTestFinished } from "vitest";

const examples = join(import.meta.dirname, "../../examples/proxy");

/** The name in the examples. */
export const proxyName = "chat.example.org";

/** From where its clients call: from an address of this machine that no server trusts. */
export const clientAddress = "127.0.0.2";

export type ProxyProgram = "nginx" | "caddy";

export interface ReverseProxy {
  readonly port: number;
  /** `https://chat.example.org:PORT`. */
  readonly origin: string;
  /** By HTTP/2, as a browser would. */
  fetch(path: string, options?: ProxyRequest): Promise<ProxyAnswer>;
}

interface ProxyRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

interface ProxyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** What has arrived so far. */
  readonly text: () => string;
  readonly hasEnded: () => boolean;
  readonly ended: Promise<void>;
  readonly close: () => void;
}

/** A port that nobody has now. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Starts the program as the example says; `silenceSeconds` replaces nginx's limit on silence. Ends with the test. */
export async function startProxy(
  program: ProxyProgram,
  serverPort: number,
  port: number,
  silenceSeconds = 60,
): Promise<ReverseProxy> {
  const folder = mkdtempSync(join(tmpdir(), "sheaf-proxy-"));
  const ca = createCertificate(folder);
  const child = spawn(...toCommand(program, { folder, serverPort, port, silenceSeconds }));
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  child.stdout.resume();
  const closed = once(child, "close");
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await closed;
    rmSync(folder, { recursive: true, force: true });
  });
  for (let tries = 0; !(await isListening(port)); tries += 1) {
    if (child.exitCode !== null || tries > 200) throw new Error(`${program} does not listen: ${log}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    port,
    origin: `https://${proxyName}:${port}`,
    fetch: (path, options) => request({ port, ca }, path, options),
  };
}

interface Places {
  readonly folder: string;
  readonly serverPort: number;
  readonly port: number;
  readonly silenceSeconds: number;
}

function toCommand(
  program: ProxyProgram,
  places: Places,
): [string, string[], SpawnOptionsWithStdioTuple<"ignore", "pipe", "pipe">] {
  const { folder, serverPort, port, silenceSeconds } = places;
  const read = (name: string): string =>
    readFileSync(join(examples, name), "utf8").replaceAll("127.0.0.1:7433", `127.0.0.1:${serverPort}`);
  const options: SpawnOptionsWithStdioTuple<"ignore", "pipe", "pipe"> = {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], HOME: folder, XDG_DATA_HOME: folder },
  };
  if (program === "caddy") {
    const site = read("Caddyfile").replace(
      `\n${proxyName} {`,
      `\nhttps://${proxyName}:${port} {\n  bind 127.0.0.1\n  tls ${folder}/cert.pem ${folder}/key.pem`,
    );
    const settings = "{\n  admin off\n  auto_https disable_redirects\n}\n";
    writeFileSync(join(folder, "Caddyfile"), `${settings}${site}`);
    return ["caddy", ["run", "--adapter", "caddyfile", "--config", join(folder, "Caddyfile")], options];
  }
  const site = read("nginx.conf")
    .replace("listen 443 ", `listen 127.0.0.1:${port} `)
    .replace(/ssl_certificate .*;/, `ssl_certificate ${folder}/cert.pem;`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${folder}/key.pem;`)
    .replace(/proxy_read_timeout .*;/, `proxy_read_timeout ${silenceSeconds}s;`);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => {
    mkdirSync(join(folder, name));
    return `${name}_temp_path ${folder}/${name};`;
  });
  const main = ["daemon off;", `pid ${folder}/nginx.pid;`, "error_log stderr;", "worker_processes 1;", "events {}"];
  const http = `http {\n${temporary.join("\n")}\naccess_log off;\n${site}\n}\n`;
  // As root, its workers would have another user, who cannot read here.
  const user = process.getuid?.() === 0 ? "user root;\n" : "";
  writeFileSync(join(folder, "nginx.conf"), `${user}${main.join("\n")}\n${http}`);
  return ["nginx", ["-e", "stderr", "-c", join(folder, "nginx.conf")], options];
}

/** For the name of the examples, signed by itself. */
function createCertificate(folder: string): string {
  const out = ["-keyout", `${folder}/key.pem`, "-out", `${folder}/cert.pem`];
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const name = ["-subj", `/CN=${proxyName}`, "-addext", `subjectAltName=DNS:${proxyName}`];
  const { status, stderr } = spawnSync("openssl", ["req", "-x509", "-days", "2", ...key, ...out, ...name], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`openssl: ${stderr}`);
  return readFileSync(join(folder, "cert.pem"), "utf8");
}

async function isListening(port: number): Promise<boolean> {
  const socket = connectTls({ host: "127.0.0.1", port, servername: proxyName, rejectUnauthorized: false });
  try {
    await once(socket, "secureConnect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function request(
  { port, ca }: { readonly port: number; readonly ca: string },
  path: string,
  { method = "GET", headers = {}, body }: ProxyRequest = {},
): Promise<ProxyAnswer> {
  const createConnection = () =>
    connectTls({
      socket: connectTcp({ host: "127.0.0.1", localAddress: clientAddress, port }),
      servername: proxyName,
      ca,
      ALPNProtocols: ["h2"],
    });
  const session = connectHttp2(`https://${proxyName}:${port}`, { createConnection, maxSessionMemory: 100 });
  onTestFinished(() => session.destroy());
  session.on("error", () => undefined);
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  const stream = session.request({ ":method": method, ":path": path, ...Object.fromEntries(lower) });
  let text = "";
  let isOver = false;
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      isOver = true;
      resolve();
    };
    // A refused body may never have been read to its end: then the answer ends, and its stream stays open.
    stream.on("end", end);
    stream.on("close", () => {
      end();
      session.close();
    });
  });
  stream.on("error", () => undefined);
  stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
  stream.end(body);
  const [fields] = (await once(stream, "response")) as [Record<string, string | string[] | undefined>];
  return {
    status: Number(fields[":status"]),
    headers: fields,
    text: () => text,
    hasEnded: () => isOver,
    ended,
    close: () => stream.close(),
  };
}
