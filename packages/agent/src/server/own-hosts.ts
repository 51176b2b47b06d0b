/** By which names the server may be called: against pages that point their own name at this machine (S-52). */
import type { IsOwnHost } from "./request-rules.ts";

const loopbackNames = ["localhost", "127.0.0.1", "[::1]"];

/** Whether only programs of this machine reach a server that listens there. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** `others`: names given by the operator, with or without a port; those without go with every port. */
export function createOwnHosts(host: string, port: number, others: readonly string[]): IsOwnHost {
  const name = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  const own = new Set([...loopbackNames, name].map((known) => `${known}:${port}`.toLowerCase()));
  // The port of the scheme is left out by browsers.
  if (port === 80) for (const known of [...loopbackNames, name]) own.add(known.toLowerCase());
  const given = new Set(others.map((other) => other.toLowerCase()));
  return (candidate) => {
    const lower = candidate.toLowerCase();
    return own.has(lower) || given.has(lower) || given.has(lower.replace(/:\d{1,5}$/, ""));
  };
}
