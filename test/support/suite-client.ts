/** A client for the conformance suite of MCP: Sheaf's tool servers and its login, and a person who agrees to all. */
import { createToolServers } from "@sheaf/agent/assemble/wire-servers";
import { openMcpLogin } from "@sheaf/agent/assemble/run-mcp-login";
import type { HttpServerSettings } from "@sheaf/agent/config/mcp-settings";
import type { ToolContext } from "@sheaf/agent/tools/tool";

const { signal } = new AbortController();
const environment = process.env;
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[];
};
const { client_id: clientId, client_secret: clientSecret, toolCalls = [] } = context;
const given = {
  ...(clientId !== undefined && { clientId }),
  ...(clientSecret !== undefined && { clientSecret }),
  clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
};

type Schema = { readonly properties?: object; readonly required?: readonly string[]; readonly type?: string };

/** What a model could give: a value for each argument that must be there. `shown`: for one that wants a schema. */
function toValue({ type, properties = {}, required = [] }: Schema, shown: object): unknown {
  if (type === "object") {
    const entries = Object.entries(properties).filter(([name]) => required.includes(name));
    const toArgument = (name: string, schema: Schema) => (name === "schema" ? shown : toValue(schema, shown));
    return Object.fromEntries(entries.map(([name, schema]) => [name, toArgument(name, schema as Schema)]));
  }
  if (type === "boolean") return true;
  return type === "number" || type === "integer" ? 1 : "x";
}

/** What stands in the way of the server, or of a call; "": nothing. */
async function useServer(settings: HttpServerSettings): Promise<string> {
  const servers = createToolServers(environment);
  const folders = { workspace: process.cwd(), addedFolders: [] };
  const lease = await servers.lease({ conversationId: "conv_1", servers: { suite: settings } }, folders, signal);
  try {
    let problem = lease?.servers.map((server) => server.problem ?? "").join("") ?? "";
    for (const tool of lease?.tools ?? []) {
      const wanted = toolCalls.find(({ name }) => name === tool.mcp?.tool);
      const args = wanted?.arguments ?? (toValue(tool.schema, lease!.tools[0]!.schema) as typeof tool.schema);
      const prepared = await tool.prepare({ callId: "call_1", toolName: tool.name, arguments: args });
      if (!prepared.ok) throw new Error(`${tool.name} was not prepared`);
      const askPerson = async () => ({ kind: "allow_once", by: "person" }) as const;
      const { error } = await prepared.run({ signal, askPerson } as unknown as ToolContext);
      if (error) problem = error.message;
    }
    return problem;
  } finally {
    await servers.close();
  }
}

/** As a browser does in which the person agrees. */
async function agree(address: URL): Promise<void> {
  const { headers } = await fetch(address, { redirect: "manual" });
  await fetch(headers.get("location")!);
}

let oauth: NonNullable<HttpServerSettings["oauth"]> = given;
let asked = "";
const url = process.argv.at(-1)!;
for (let logins = 0; ; logins += 1) {
  const settings = { url, oauth };
  const problem = await useServer(settings);
  const scope = /what its login had and "([^"]+)"/.exec(problem)?.[1];
  if (problem === "" || logins === 2 || !problem.includes("sheaf mcp login")) {
    process.stderr.write(`${problem}\n`);
    break;
  }
  if (scope !== undefined) oauth = { ...oauth, scope: `${asked} ${scope}`.trim() };
  const show = (address: URL): void => {
    asked = address.searchParams.get("scope") ?? "";
    void agree(address);
  };
  const person = { show, pasted: undefined, refuse: () => undefined };
  await openMcpLogin({ name: "suite", settings: { url, oauth }, environment }, person, signal);
}
