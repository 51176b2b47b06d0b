/** Pages of the web as text: from public hosts only, bounded in size and time. */
import { lookup } from "node:dns/promises";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { ToolError } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import { isPublicAddress } from "@sheaf/base/public-address";
import { untilAborted } from "@sheaf/base/until-aborted";
import { sheafVersion } from "@sheaf/base/version";
import { toMarkdown } from "./html-to-markdown.ts";
import { openTunneledWay, sendRequest, toDirectWay, type NetworkWay } from "./checked-way.ts";
import { type HostAddress, isServicePort, resolveAllowed } from "@sheaf/sandbox/launch/proxy";
import { TunnelError } from "./proxy-tunnel.ts";

interface WebPage {
  /** The page's address after redirects. */
  readonly url: string;
  /** Markdown of an HTML page, else the text itself. Bounded. */
  readonly text: string;
  /** Bytes that the fetcher read, at most the limit. */
  readonly bytes: number;
  /** True if the page is longer. */
  readonly isCut: boolean;
}

export type PageResult =
  | { readonly ok: true; readonly page: WebPage }
  /** Codes: INVALID_URL, ADDRESS_REFUSED, REDIRECTED, HTTP_ERROR, NOT_TEXT, NETWORK, TIMEOUT, CANCELLED. */
  | { readonly ok: false; readonly error: ToolError };

export interface PageFetcher {
  fetchPage(url: string, signal: AbortSignal): Promise<PageResult>;
}

/** Bytes of an unpacked page; Sheaf ignores the rest. */
const MAX_BYTES = 2 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const MAX_URL = 4096;
const TIMEOUT_MS = 30_000;

/** The ports of a fetcher; tests use local servers. */
interface FetchPorts {
  /** Returns the address of the proxy for a page; undefined: no proxy. @throws SheafError CONFIG_INVALID. */
  readonly findProxy: (url: URL) => string | undefined;
  readonly resolveHost: (host: string) => Promise<readonly HostAddress[]>;
  readonly isAllowed: (address: string) => boolean;
  /** Milliseconds for the whole fetch. */
  readonly timeoutMs: number;
}

const publicNetwork: FetchPorts = {
  findProxy: () => undefined,
  resolveHost: (host) => lookup(host, { all: true, verbatim: true }),
  isAllowed: isPublicAddress,
  timeoutMs: TIMEOUT_MS,
};

/**
 * Creates a fetcher. It resolves a host once, and connects to the address that it checked; redirects stay within the
 * host. No cookies, no credentials. A proxy gets that address, never the name. Failures are values.
 */
export function createPageFetcher(given: Partial<FetchPorts> = {}): PageFetcher {
  const ports = { ...publicNetwork, ...given };
  return {
    async fetchPage(url, signal) {
      const timeout = AbortSignal.timeout(ports.timeoutMs);
      try {
        return await followPage(url, ports, AbortSignal.any([signal, timeout]));
      } catch (error) {
        if (signal.aborted) return fail("CANCELLED", "the run was cancelled during this call");
        if (timeout.aborted) {
          return fail("TIMEOUT", `${shorten(url)} took longer than ${ports.timeoutMs / 1000} s: try another page`);
        }
        return fail("NETWORK", `${shorten(url)} could not be fetched${explainFailure(error)}`);
      }
    },
  };
}

async function followPage(given: string, ports: FetchPorts, signal: AbortSignal): Promise<PageResult> {
  let url = parseUrl(given);
  if (!url) {
    return fail("INVALID_URL", `${shorten(given)} is not an http or https address without user name and password`);
  }
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const proxy = ports.findProxy(url);
    const resolving = resolveAllowed(url.hostname, ports.resolveHost, ports.isAllowed);
    const addresses = await untilAborted(resolving, signal).catch((error: unknown) => {
      if (proxy === undefined || signal.aborted) throw error;
      throw new TunnelError(`${url!.hostname} is not known here (${toReason(error)})`);
    });
    if (!addresses) {
      return fail("ADDRESS_REFUSED", `${url.hostname} is not a public host: web_fetch reaches public hosts only`);
    }
    const way = proxy === undefined ? toDirectWay(addresses) : await openTunneledWay(url, addresses, proxy, signal);
    const response = await openUrl(url, way, signal);
    const target = findRedirect(response, url);
    if (target === undefined) return readPage(response, url, signal);
    response.destroy();
    const next = parseUrl(target);
    if (!next) return fail("REDIRECTED", `${url.href} redirects to ${shorten(target)}, which is not a web address`);
    // Another host needs another permission.
    if (next.hostname !== url.hostname || (url.protocol === "https:" && next.protocol === "http:")) {
      return fail("REDIRECTED", `${url.href} redirects to ${next.href}: call web_fetch with it if you want it`);
    }
    url = next;
  }
  return fail("REDIRECTED", `${shorten(given)} redirects more than ${MAX_REDIRECTS} times`);
}

function parseUrl(text: string): URL | undefined {
  if (text.length > MAX_URL || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isWeb = url.protocol === "http:" || url.protocol === "https:";
  if (!isWeb || url.username !== "" || url.password !== "" || url.hostname === "") return undefined;
  if (url.port !== "" && isServicePort(Number(url.port))) return undefined;
  url.hash = "";
  return url;
}

function openUrl(url: URL, way: NetworkWay, signal: AbortSignal): Promise<IncomingMessage> {
  const headers = {
    host: url.host,
    "user-agent": `sheaf/${sheafVersion}`,
    accept: "text/markdown, text/html;q=0.9, text/plain;q=0.9, application/json;q=0.8, */*;q=0.1",
    "accept-encoding": "gzip, deflate, br",
  };
  return sendRequest(url, way, { method: "GET", headers, signal });
}

function findRedirect({ statusCode = 0, headers: { location } }: IncomingMessage, url: URL): string | undefined {
  if (![301, 302, 303, 307, 308].includes(statusCode) || location === undefined) return undefined;
  return URL.canParse(location, url.href) ? new URL(location, url.href).href : location;
}

async function readPage(response: IncomingMessage, url: URL, signal: AbortSignal): Promise<PageResult> {
  const { statusCode = 0, headers } = response;
  if (statusCode < 200 || statusCode > 299) {
    response.destroy();
    return fail("HTTP_ERROR", `${url.href} answered with status ${statusCode}: check the address`);
  }
  const type = headers["content-type"] ?? "";
  const kind = findTextKind(type);
  const body = toUnpacked(response, headers["content-encoding"]);
  if (!kind || !body) {
    response.destroy();
    const what = kind ? `packed as ${headers["content-encoding"]}` : `of type ${shorten(type) || "unknown"}`;
    return fail("NOT_TEXT", `${url.href} is ${what}: web_fetch reads pages and texts only`);
  }
  const { bytes, isCut } = await readBounded(body, signal);
  response.destroy();
  const source = createDecoder(bytes, type, kind).decode(bytes);
  try {
    const text = kind === "html" ? await toMarkdown(source, signal) : source;
    return { ok: true, page: { url: url.href, text, bytes: bytes.length, isCut } };
  } catch (error) {
    signal.throwIfAborted();
    const reason = shorten((error as Error).message);
    return fail("NOT_TEXT", `${url.href} cannot be converted to Markdown (${reason}): read another page`);
  }
}

function toUnpacked(response: IncomingMessage, encoding = "identity"): Readable | undefined {
  const unpackers = { gzip: createGunzip, "x-gzip": createGunzip, deflate: createInflate, br: createBrotliDecompress };
  const name = encoding.trim().toLowerCase();
  if (name === "identity" || name === "") return response;
  if (!Object.hasOwn(unpackers, name)) return undefined;
  const unpacker = unpackers[name as keyof typeof unpackers]();
  response.once("error", (error) => unpacker.destroy(error));
  return response.pipe(unpacker);
}

async function readBounded(body: Readable, signal: AbortSignal): Promise<{ bytes: Buffer; isCut: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    signal.throwIfAborted();
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_BYTES) break;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, MAX_BYTES), isCut: size > MAX_BYTES };
}

function fail(code: string, message: string): PageResult {
  const error: ToolError = { code, message, details: "" };
  return { ok: false, error };
}

/** Shortens a text of a server or a model, in one line. */
function shorten(text: string): string {
  return JSON.stringify(text.slice(0, 200)).slice(1, -1);
}

/** Explains why a page could not be fetched and, for a proxy, why its own look-up is not enough. */
function explainFailure(error: unknown): string {
  if (error instanceof SheafError) return `: ${error.message}`;
  if (!(error instanceof TunnelError)) return ` (${toReason(error)}): check the address`;
  const rule = "web_fetch looks names up itself, so that it reaches public hosts only, and tells a proxy the address";
  return `: ${error.message}; ${rule}: let it pass, correct HTTPS_PROXY and HTTP_PROXY, or name the host in NO_PROXY`;
}

function toReason(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return code || shorten(error.message);
}

/** Bytes at the start of a page that may contain its encoding. */
const HEAD_BYTES = 2048;

/** Returns the kind of a content type; undefined: not text. A missing type is text. */
function findTextKind(contentType: string): "html" | "text" | undefined {
  const [type = ""] = contentType.toLowerCase().split(";", 1);
  const name = type.trim();
  if (name === "text/html" || name === "application/xhtml+xml") return "html";
  if (name === "" || name.startsWith("text/")) return "text";
  return /^application\/(?:[\w.+-]+\+)?(?:json|xml|yaml|toml|javascript|ecmascript|typescript|x-sh)$/.test(name)
    ? "text"
    : undefined;
}

/** Creates the decoder of a page. Bytes that are invalid in its encoding become U+FFFD. */
function createDecoder(
  bytes: Uint8Array,
  contentType: string,
  kind: "html" | "text",
): InstanceType<typeof TextDecoder> {
  const marked = /charset\s*=\s*["']?([\w:.-]{1,40})/i;
  const head = kind === "html" ? Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString("latin1") : "";
  const label = findMark(bytes) ?? marked.exec(contentType)?.[1] ?? marked.exec(head)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}

/** Returns the encoding of a byte order mark. */
function findMark(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}
