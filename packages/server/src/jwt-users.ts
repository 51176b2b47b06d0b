/** Users of an identity provider: a request carries the token that the provider signed (S-270). */
import { createRemoteJWKSet, customFetch, errors, jwtVerify } from "jose";
import { isLoopback } from "@sheaf/base/host-pattern";
import { SheafError } from "@sheaf/base/errors";
import { HttpError } from "./http-error.ts";
import type { Log } from "./metrics.ts";
import type { Visitor } from "./sessions.ts";

/** Algorithms that sign with a private key. With other kinds, everybody who knows the public key could sign. */
const algorithms = ["RS", "PS", "ES"].flatMap((kind) => [`${kind}256`, `${kind}384`, `${kind}512`]).concat("EdDSA");

/** Longest wait for an answer of the provider. Milliseconds. */
const PATIENCE_MS = 5000;

/** Largest answer of the provider. Bytes. */
const MAX_ANSWER = 1024 * 1024;

/** Shortest time between two requests for keys. Milliseconds. */
const COOLDOWN_MS = 1000;

/** Difference between the clocks of server and provider. Seconds. */
const CLOCK_SECONDS = 30;

export interface JwtSettings {
  readonly issuer: string;
  readonly audience: string;
  /** Address of the public keys; undefined: the issuer's description has it. */
  readonly jwks?: string | undefined;
  /** Shortest time between two requests for keys; default: a second. Milliseconds. */
  readonly cooldownMs?: number;
}

/** Returns undefined without these flags. @throws SheafError USAGE. */
export function toJwtSettings(issuer?: string, audience?: string, jwks?: string): JwtSettings | undefined {
  if ((issuer ?? audience ?? jwks) === undefined) return undefined;
  if (!issuer || !audience) {
    throw new SheafError(
      "USAGE",
      "an identity provider needs two flags: give --jwt-issuer URL and --jwt-audience NAME",
    );
  }
  for (const [flag, address] of Object.entries({ "--jwt-issuer": issuer, "--jwks": jwks ?? issuer })) {
    if (!isSafe(address)) throw new SheafError("USAGE", `${flag} "${address}" is not safe: give an https address`);
  }
  return { issuer, audience, jwks };
}

/** Creates the check of tokens. `now` in milliseconds. */
export function createJwtUsers(settings: JwtSettings, now: () => number, log: Log) {
  const { issuer, audience, cooldownMs = COOLDOWN_MS } = settings;
  const open = async () => {
    const address = settings.jwks ?? (await findKeyAddress(issuer));
    const limits = { cooldownDuration: cooldownMs, timeoutDuration: PATIENCE_MS };
    return createRemoteJWKSet(new URL(address), { ...limits, [customFetch]: fetchSmall });
  };
  let keys: Awaited<ReturnType<typeof open>> | undefined;
  let opening: ReturnType<typeof open> | undefined;
  let failedAt = -Infinity;
  const isCooling = () => now() - failedAt < cooldownMs;

  /** Runs `ask` with the provider's keys. @throws HttpError OVERLOADED if they are missing. */
  const withKeys = async <Value>(ask: (set: NonNullable<typeof keys>) => Promise<Value>): Promise<Value> => {
    try {
      if (isCooling() && !keys?.fresh) throw new SheafError("NETWORK", "the last request failed");
      keys ??= await (opening ??= open().finally(() => (opening = undefined)));
      return await ask(keys);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) throw error;
      // The issuer may have moved its keys.
      if (!keys?.fresh) keys = undefined;
      if (!isCooling()) {
        failedAt = now();
        const { message, cause } = error as Error;
        const problem = cause instanceof Error ? `${message}: ${cause.message}` : message;
        log({ level: "error", event: "jwt_keys_unavailable", issuer, problem });
      }
      const message = `the server cannot load the keys of ${issuer}: try again in some seconds`;
      throw new HttpError("OVERLOADED", message, { retryAfter: 5 });
    }
  };

  return {
    /** Loads the keys, so that the log shows a wrong address from the start. */
    prepare: () => withKeys((set) => set.reload()).catch(() => undefined),
    /** @throws HttpError AUTH_REJECTED, OVERLOADED. */
    async findVisitor(token: string): Promise<Visitor> {
      const rules = { issuer, audience, algorithms, requiredClaims: ["exp", "sub"], clockTolerance: CLOCK_SECONDS };
      const currentDate = new Date(now());
      const { payload } = await jwtVerify(token, (...key) => withKeys((set) => set(...key)), { ...rules, currentDate })
        // prettier-ignore
        .catch((error: unknown) => {
          throw error instanceof errors.JOSEError ? createRejection(`${issuer} for "${audience}"`, error) : error;
        });
      const { sub, exp = 0 } = payload;
      if (typeof sub === "string" && /^[\x21-\x7e]{1,255}$/.test(sub))
        return { owner: `user:${sub}`, endsAt: exp * 1000 };
      throw new HttpError("AUTH_REJECTED", `the token has ${JSON.stringify(sub)?.slice(0, 300)} as its user: use 1 to 255 printable characters without spaces`); // prettier-ignore
    },
  };
}

export type JwtUsers = ReturnType<typeof createJwtUsers>;

function createRejection(expected: string, error: errors.JOSEError): HttpError {
  const { claim, payload } = error as Partial<errors.JWTClaimValidationFailed>;
  const value = claim === undefined ? "" : `, it has ${JSON.stringify(payload?.[claim])?.slice(0, 100)}`;
  const reason = error instanceof errors.JWTExpired ? "it is expired" : `${error.message}${value}`;
  const message = `the token is not in the token file, and not valid for ${expected} (${reason}): sign in again`;
  return new HttpError("AUTH_REJECTED", message);
}

/** Fetches an answer whose body fails above the limit, so that no provider fills the server's memory. */
async function fetchSmall(address: string, init: RequestInit): Promise<Response> {
  const answer = await fetch(address, init);
  let size = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, body) {
      size += piece.length;
      if (size > MAX_ANSWER) throw new SheafError("NETWORK", `${address} sent more than ${MAX_ANSWER} bytes`);
      body.enqueue(piece);
    },
  });
  return new Response(answer.body?.pipeThrough(limit), answer);
}

/** @throws SheafError NETWORK. */
async function findKeyAddress(issuer: string): Promise<string> {
  const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const answer = await fetchSmall(address, { redirect: "error", signal: AbortSignal.timeout(PATIENCE_MS) });
  const description = answer.ok ? ((await answer.json()) as { issuer?: unknown; jwks_uri?: unknown } | null) : null;
  const { jwks_uri: keys } = description ?? {};
  if (description?.issuer === issuer && typeof keys === "string" && isSafe(keys)) return keys;
  throw new SheafError("NETWORK", `${address} does not describe ${issuer} with an https address of keys: give --jwks`);
}

/** Returns true if the network between server and provider can't change the keys. */
function isSafe(address: string): boolean {
  const { protocol, hostname } = URL.parse(address) ?? {};
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname!));
}
