/** Finds the client of a request: from the connection, or from headers of trusted proxies (S-116, S-117). */
import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { SheafError } from "@sheaf/base/errors";

/** The client of a request, before all trusted proxies. */
export interface Client {
  /** IPv4 or IPv6 address; undefined: the connection has no address. */
  readonly address: string | undefined;
  /** True if the client used https, as far as the operator's own proxies report. */
  readonly isSecure: boolean;
  /** Name and port that the client used to reach the proxy; undefined: the proxy didn't report it. */
  readonly forwardedHost: string | undefined;
}

export type FindClient = (incoming: Partial<IncomingMessage> | undefined) => Client;

/** Most elements of a list; a longer list isn't a chain of proxies. */
const MAX_HOPS = 20;

/** Creates a finder. `words` of `--trust-proxy`: addresses and networks between commas. @throws SheafError USAGE. */
export function createClientFinder(words: readonly string[]): FindClient {
  const trusted = parseNetworks(words);
  const isTrusted = (address: string): boolean => trusted.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  return (incoming) => {
    const peer = toPlainAddress(incoming?.socket?.remoteAddress ?? "");
    if (!incoming || peer === undefined || !isTrusted(peer)) {
      return { address: peer, isSecure: false, forwardedHost: undefined };
    }
    const { headers = {} } = incoming;
    const hops =
      headers["x-forwarded-for"] === undefined && headers.forwarded
        ? parseForwarded(headers.forwarded)
        : readHops(headers);
    // The nearest proxy wrote the last element. A client may have written all elements before an untrusted one.
    let client = peer;
    for (const { address } of hops.toReversed()) {
      if (address === undefined) break;
      client = address;
      if (!isTrusted(address)) break;
    }
    const last = hops.at(-1);
    return { address: client, isSecure: last?.proto === "https", forwardedHost: last?.host };
  };
}

function parseNetworks(words: readonly string[]): BlockList {
  const networks = new BlockList();
  for (const word of words.flatMap((list) => list.split(",")).map((text) => text.trim())) {
    const [, address = "", prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(word) ?? [];
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    const width = family === "ipv6" ? 128 : 32;
    if (isIP(address) === 0 || Number(prefix ?? width) > width) {
      const message = `--trust-proxy "${word}" is not an address or a network: write 127.0.0.1 or 10.0.0.0/8`;
      throw new SheafError("USAGE", message);
    }
    if (prefix !== undefined && Number(prefix) === 0) {
      throw new SheafError(
        "USAGE",
        `--trust-proxy "${word}" would trust everybody: name the addresses of your proxies`,
      );
    }
    networks.addSubnet(address, Number(prefix ?? width), family);
  }
  return networks;
}

/** The report of one proxy about its request. */
interface Hop {
  readonly address: string | undefined;
  readonly proto: string | undefined;
  readonly host: string | undefined;
}

/** Reads `X-Forwarded-For`, `-Proto`, `-Host`: lists in the same order, or one value of the nearest proxy. */
function readHops(headers: IncomingMessage["headers"]): Hop[] {
  const [addresses, protos, hosts] = ["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"].map((name) =>
    String(headers[name] ?? "")
      .split(",")
      .slice(-MAX_HOPS)
      .map((text) => text.trim().toLowerCase() || undefined),
  );
  return addresses!.map((address, at) => {
    const isLast = at === addresses!.length - 1;
    return {
      address: toPlainAddress(address ?? ""),
      proto: isLast ? protos!.at(-1) : undefined,
      host: isLast ? hosts!.at(-1) : undefined,
    };
  });
}

/** RFC 7239: `for=192.0.2.1;proto=https;host=example.org, for="[2001:db8::1]:4711"`. */
function parseForwarded(header: string): Hop[] {
  return header
    .split(",")
    .slice(-MAX_HOPS)
    .map((element) => {
      const pairs = element.split(";").map((pair): [string, string] => {
        const [name = "", value = ""] = pair.split(/=(.*)/s);
        return [
          name.trim().toLowerCase(),
          value
            .trim()
            .replace(/^"(.*)"$/s, "$1")
            .toLowerCase(),
        ];
      });
      const { for: address = "", proto, host } = Object.fromEntries(pairs) as Record<string, string | undefined>;
      return { address: toPlainAddress(address), proto, host };
    });
}

/** Removes brackets, port and zone, and the IPv6 form of IPv4. Returns undefined if it isn't an address. */
function toPlainAddress(text: string): string | undefined {
  const [, inner] = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text) ?? [];
  const address = (inner ?? text.replace(/^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/, "$1"))
    .replace(/%.*$/s, "")
    .replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "");
  return isIP(address) === 0 ? undefined : address;
}
