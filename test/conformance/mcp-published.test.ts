/** Servers of the Model Context Protocol by its own authors, as they come from the registry (C53). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { installClients } from "../support/clients.ts";
import { describeWhere, testDeep } from "../support/describe-where.ts";
import { compiledCode, createTestFolder, parseStream, runSheaf } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const clients = folders.newFolder();
const missing = await installClients(clients);

type Call = readonly [tool: string, args: object];

interface CallLine {
  readonly tool_call: Readonly<Record<"mcpToolCall" | "function", { readonly result: { readonly success: object } }>>;
}

const toProgram = (name: string): string =>
  join(clients, "node_modules/@modelcontextprotocol", `server-${name}`, "dist/index.js");

/** The three servers, one of them started through a shell. `settings`: more for each of them. */
function createPlace(settings: object = {}, shell = "") {
  const cwd = folders.newFolder({ "data/a.txt": "one\n" });
  const node = process.execPath;
  const everything = `${shell} exec '${node}' '${toProgram("everything")}' stdio`;
  const mcpServers = {
    everything: { command: "sh", args: ["-c", everything], env: compiledCode, ...settings },
    files: { command: node, args: [toProgram("filesystem"), join(cwd, "data")], ...settings },
    memory: {
      command: node,
      args: [toProgram("memory")],
      env: { MEMORY_FILE_PATH: join(cwd, "memory.jsonl") },
      ...settings,
    },
  };
  const home = folders.newFolder({ "config.json": JSON.stringify({ mcpServers }) });
  const sheaf = (...args: readonly string[]) => runSheaf(args, { cwd, home });
  return {
    cwd,
    sheaf,
    /** The results of these calls, one after another. */
    run: async (calls: readonly Call[]) => {
      const turns = calls.map(([name, args]) => {
        const tool = name.includes("__") ? `mcp__${name}` : name;
        return { events: [{ call: { tool, arguments: args } }] };
      });
      const script = JSON.stringify({ turns: [...turns, { events: [{ text: "Done." }] }] });
      const model = `scripted:${join(folders.newFolder({ "s.json": script }), "s.json")}`;
      const { code, stderr, stdout } = await sheaf("-p", "--model", model, "--force", "go");
      expect([code, stderr]).toEqual([0, ""]);
      const lines = parseStream(stdout) as unknown as (CallLine & { readonly subtype?: string })[];
      const completed = lines.filter(({ subtype }) => subtype === "completed");
      return {
        init: lines[0] as unknown as { readonly mcp_servers: readonly { readonly tools: readonly string[] }[] },
        results: completed.map(({ tool_call }) => (tool_call.mcpToolCall ?? tool_call.function).result.success),
      };
    },
  };
}

const toText = (text: unknown, isError = false) => ({ content: [{ text: { text } }], isError });
const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);

describeWhere("published servers", missing, () => {
  test(verifies(["C53", "C43"], "list their tools in the form of cursor-agent"), async () => {
    const { sheaf } = createPlace();
    const list = async (name: string): Promise<string> => (await sheaf("mcp", "list-tools", name)).stdout;
    expect(await list("everything")).toMatch(/^Tools for everything \(\d+\):\n(- .*\n)*- get-sum \(a, b\)\n/);
    expect(await list("files")).toMatch(/^Tools for files \(\d+\):\n(- .*\n)*- list_directory \(path\)\n/);
    expect(await list("memory")).toMatch(/^Tools for memory \(\d+\):\n(- .*\n)*- search_nodes \(query\)\n/);
    expect((await sheaf("mcp", "list")).stdout).toMatch(/^everything: ready .*\nfiles: ready .*\nmemory: ready .*\n$/);
  });

  testDeep(
    verifies(["C53", "C52", "C9"], "everything: text, errors, structured content, resources, images"),
    async () => {
      const { run } = createPlace();
      const { init, results } = await run([
        ["everything__echo", { message: "hi" }],
        ["everything__get-sum", { a: 2, b: 3 }],
        ["everything__get-sum", { a: "two" }],
        ["everything__get-structured-content", { location: "Chicago" }],
        ["everything__get-resource-links", { count: 1 }],
        ["everything__get-resource-reference", { resourceType: "Blob", resourceId: 1 }],
        ["everything__get-tiny-image", {}],
        ["everything__get-annotated-message", { messageType: "error", includeImage: true }],
      ]);
      // It runs only as a task.
      expect(init.mcp_servers[0]?.tools).not.toContain("simulate-research-query");
      const image = { image: { data: matching(/^iVBORw0KGgo/), mimeType: "image/png" } };
      expect(results).toMatchObject([
        toText("Echo: hi"),
        toText("The sum of 2 and 3 is 5."),
        toText(matching(/Invalid arguments for tool get-sum/), true),
        toText(matching(/^\{"temperature":-?\d+,"conditions":"[^"]+","humidity":\d+\}$/)),
        { content: [{ text: {} }, { text: { text: matching(/^\[link .*: demo:\/\//) } }], isError: false },
        { content: [{ text: {} }, { text: { text: matching(/^Resource 1: This is a base64 blob/) } }, { text: {} }] },
        { content: [{ text: {} }, image, { text: {} }] },
        { content: [{ text: { text: matching(/^Error: /) } }, image] },
      ]);
    },
  );

  testDeep(verifies(["C110", "C111"], "everything: lists and gives its resources and prompts"), async () => {
    const { sheaf, run } = createPlace();
    expect((await sheaf("mcp", "list-prompts", "everything")).stdout).toMatch(
      /^Prompts of everything \(4\):\n(- .*\n)*- \/mcp__everything__args-prompt city \[state\]: A prompt /,
    );
    expect((await sheaf("mcp", "list-resources", "everything")).stdout).toMatch(
      /^Resources of everything \(9\):\n(- .*\n)*- demo:\/\/resource\/dynamic\/text\/\{resourceId\}: /,
    );
    const { results } = await run([
      ["everything__gzip-file-as-resource", { name: "a.gz", data: "data:,hello", outputType: "resourceLink" }],
      ["list_mcp_resources", { server: "everything" }],
      ["read_mcp_resource", { server: "everything", uri: "demo://resource/static/document/features.md" }],
      ["read_mcp_resource", { server: "everything", uri: "demo://resource/session/a.gz" }],
    ]);
    // It lists what a call has added.
    expect(results.slice(1)).toMatchObject([
      { output: matching(/^everything \(10\):\n(- .*\n)*- demo:\/\/resource\/session\/a\.gz: /) },
      { content: [{ text: { text: matching(/^# Everything Server - Features\n/) } }] },
      { content: [{ text: { text: matching(/^\[resource demo:.* application\/gzip, \d+ bytes, not shown\]$/) } }] },
    ]);
  });

  testDeep(
    verifies(["C53", "C52"], "filesystem and memory: what one call writes the next one reads, also in another run"),
    async () => {
      const { cwd, run } = createPlace();
      const file = join(cwd, "data/b.txt");
      const entities = [{ name: "Ada", entityType: "person", observations: ["likes maths"] }];
      const { results } = await run([
        ["files__write_file", { path: file, content: "two\n" }],
        ["files__read_text_file", { path: file }],
        ["files__list_directory", { path: join(cwd, "data") }],
        ["files__read_text_file", { path: "/etc/hostname" }],
        ["memory__create_entities", { entities }],
      ]);
      expect(results).toEqual([
        toText(matching(/^Successfully wrote/)),
        toText("two\n"),
        toText("[FILE] a.txt\n[FILE] b.txt"),
        toText(matching(/^Access denied/), true),
        toText(matching(/"Ada"/)),
      ]);
      expect(readFileSync(file, "utf8")).toBe("two\n");
      const again = await run([["memory__search_nodes", { query: "Ada" }]]);
      expect(again.results).toEqual([toText(matching(/likes maths/))]);
    },
  );

  testDeep(verifies(["C53", "C24"], "notifications of progress keep a call alive"), async () => {
    const long = "everything__trigger-long-running-operation";
    const { run } = createPlace({ timeoutSeconds: 4 });
    expect((await run([[long, { duration: 8, steps: 40 }]])).results).toEqual([
      toText(matching(/^Long running operation completed/)),
    ]);
  });

  testDeep(
    verifies("C53", "a server that starts slowly and prints rubbish works; one that breaks says why"),
    async () => {
      const rubbish = `echo starting up; echo '{"jsonrpc":'; echo '[]'; sleep 2; printf '\\033[32mready\\033[0m\\n';`;
      const { results } = await createPlace({}, rubbish).run([["everything__echo", { message: "hi" }]]);
      expect(results).toEqual([toText("Echo: hi")]);
      const { sheaf } = createPlace({ env: { TOKEN: "CANARY-0123" } }, `echo "Error: no key in $TOKEN" >&2; exit 3;`);
      const listed = (await sheaf("mcp", "list")).stdout;
      expect(listed).toMatch(/^everything: failed \(.*; it wrote: Error: no key in \[key\]\)\n/);
      const late = createPlace({ startTimeoutSeconds: 0.5 }, "sleep 60;");
      expect((await late.sheaf("mcp", "list")).stdout).toMatch(
        /^everything: failed \(it was not ready within 0\.5 s\)\n/,
      );
    },
  );
});
