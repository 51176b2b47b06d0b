/** Logs the user in to a tool server: discovery, registration, PKCE, the browser, tokens (S-170 to S-172). */
import {
  checkResourceAllowed,
  discoverOAuthServerInfo,
  exchangeAuthorization,
  registerClient,
  resourceUrlFromServerUrl,
  startAuthorization,
  type AuthorizationServerMetadata,
  type FetchLike,
  type OAuthClientMetadata,
} from "@modelcontextprotocol/client";
import { SheafError } from "@sheaf/base/errors";
import { isOwnAddress } from "@sheaf/base/public-address";
import type { OauthSettings } from "../../config/mcp-settings.ts";
import type { ServerIdentity, ServerLogin } from "../../config/server-logins.ts";
import { createSafeText } from "@sheaf/models/live/secrets";
import { toTokenFields } from "./server-authorization.ts";

/** The server's answer to a request without a token. */
export interface LoginChallenge {
  readonly resourceMetadataUrl?: URL;
  readonly scope?: string;
}

export interface LoginRequest extends ServerIdentity {
  readonly oauth: OauthSettings;
  readonly challenge: LoginChallenge;
  /** The address to which the browser returns. */
  readonly redirectUrl: string;
  readonly state: string;
}

export interface LoginPorts {
  /** Reaches only addresses to which the server may refer. */
  readonly fetch: FetchLike;
  /** Shows the address to the user, and resolves to the parameters with which the browser returns. */
  readonly askUser: (address: URL) => Promise<URLSearchParams>;
  readonly now: () => number;
}

/** Logs the user in. @throws SheafError AUTH_REJECTED with the reason, or the error of `askUser`. */
export async function logInToServer(request: LoginRequest, ports: LoginPorts): Promise<ServerLogin> {
  const { name, url, redirectUrl } = request;
  const failAs = (what: string) => (error: unknown) => {
    throw createFault(name, `${what}: ${error instanceof Error ? error.message : String(error)}`, error);
  };
  const { metadata, resource, scope } = await findAuthorization(request, ports, failAs);
  const client = await findClient(request, { metadata, scope }, ports).catch(
    failAs("its authorization server does not register Sheaf"),
  );
  const common = { metadata, clientInformation: client, ...(resource !== undefined && { resource }) };
  const { authorizationUrl, codeVerifier } = await startAuthorization(metadata.issuer, {
    ...common,
    redirectUrl,
    state: request.state,
    ...(scope && { scope }),
  }).catch(failAs("its authorization server cannot be used"));
  const answer = await ports.askUser(checkAddress(name, url, authorizationUrl));
  const code = answer.get("code");
  if (code === null) throw createFault(name, `the authorization server refused it (${toCode(answer.get("error"))})`);
  const iss = answer.get("iss") ?? undefined;
  const hide = createSafeText({
    apiKey: code,
    baseUrl: "",
    headers: { codeVerifier, secret: client.client_secret ?? "" },
  });
  const tokens = await exchangeAuthorization(metadata.issuer, {
    ...common,
    authorizationCode: code,
    codeVerifier,
    redirectUri: redirectUrl,
    fetchFn: ports.fetch,
    ...(iss !== undefined && { iss }),
  })
    .then((given) => toTokenFields(given, ports.now()))
    .catch((error: unknown) => {
      throw createFault(name, hide(`the authorization server gave no token: ${(error as Error).message}`, 500), error);
    });
  const target = { name, url, authorization: toAuthorization(metadata), client, ...(resource && { resource }) };
  return { version: "1", ...target, ...tokens };
}

type FailAs = (what: string) => (error: unknown) => never;

/** Finds the server's authorization server, and the scope to request from it. */
async function findAuthorization({ name, url, challenge, oauth }: LoginRequest, { fetch }: LoginPorts, failAs: FailAs) {
  const { resourceMetadataUrl } = challenge;
  // If its description is missing, the SDK looks for the authorization server at the server: errors need the reason.
  let refusal = "";
  const found = await discoverOAuthServerInfo(url, {
    fetchFn: (...request) =>
      fetch(...request).catch((error: unknown) => {
        refusal = ` (${(error as Error).message})`;
        throw error;
      }),
    ...(resourceMetadataUrl && { resourceMetadataUrl }),
  }).catch(failAs("its authorization server was not found"));
  const { authorizationServerMetadata: metadata, resourceMetadata } = found;
  if (!metadata)
    throw createFault(
      name,
      `it and its authorization server describe no login${refusal}: run sheaf mcp list to see if it needs one`,
    );
  if (!metadata.code_challenge_methods_supported?.includes("S256")) {
    throw createFault(name, "its authorization server does not support PKCE with S256");
  }
  const resource = resourceMetadata?.resource;
  const configuredResource = resource ?? url;
  if (!checkResourceAllowed({ requestedResource: resourceUrlFromServerUrl(url), configuredResource })) {
    throw createFault(name, `its description is about another server (${configuredResource.slice(0, 200)})`);
  }
  const scope = oauth.scope ?? challenge.scope ?? resourceMetadata?.scopes_supported?.join(" ");
  return { metadata, resource, scope };
}

interface Registration {
  readonly metadata: AuthorizationServerMetadata;
  readonly scope: string | undefined;
}

async function findClient(
  { oauth: { clientId, clientSecret, clientMetadataUrl }, redirectUrl }: LoginRequest,
  { metadata, scope }: Registration,
  { fetch }: LoginPorts,
): Promise<ServerLogin["client"]> {
  if (clientId !== undefined) {
    return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
  }
  if (clientMetadataUrl !== undefined && metadata.client_id_metadata_document_supported === true) {
    return { client_id: clientMetadataUrl };
  }
  const clientMetadata: OAuthClientMetadata = {
    client_name: "Sheaf",
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    application_type: "native",
  };
  const registered = await registerClient(metadata.issuer, {
    metadata,
    clientMetadata,
    fetchFn: fetch,
    ...(scope && { scope }),
  });
  const { client_id, client_secret } = registered;
  return { client_id, ...(client_secret !== undefined && { client_secret }) };
}

/** Metadata that later requests need. */
const keptFields: ReadonlySet<string> = new Set([
  "authorization_endpoint",
  "response_types_supported",
  "grant_types_supported",
  "token_endpoint_auth_methods_supported",
  "code_challenge_methods_supported",
  "revocation_endpoint",
]);

function toAuthorization(metadata: AuthorizationServerMetadata): ServerLogin["authorization"] {
  const { issuer, token_endpoint } = metadata;
  const kept = Object.entries(metadata).filter(([name]) => keptFields.has(name));
  return { ...Object.fromEntries(kept), issuer, token_endpoint };
}

/** Checks the address that a browser opens: a page of the web, or of this machine if the server is on it. */
function checkAddress(name: string, serverUrl: string, address: URL): URL {
  const isHere = isOwnHost(address) && isOwnHost(new URL(serverUrl));
  if (address.protocol === "https:" || (address.protocol === "http:" && isHere)) return address;
  throw createFault(name, `the page of its login has a strange address (${address.origin.slice(0, 200)})`);
}

function isOwnHost({ hostname }: URL): boolean {
  return hostname === "localhost" || isOwnAddress(hostname.replace(/^\[(.*)\]$/, "$1"));
}

/** Returns the error code alone: Sheaf does not trust the other words of an authorization server. */
function toCode(error: string | null): string {
  return error !== null && /^[a-z_]{1,60}$/.test(error) ? error : "without a reason";
}

function createFault(name: string, problem: string, cause?: unknown): SheafError {
  const line = problem.replaceAll(/\s+/g, " ").slice(0, 500);
  return new SheafError("AUTH_REJECTED", `no login to the MCP server ${name}: ${line}`, { cause, source: "server" });
}
