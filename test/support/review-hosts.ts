/** GitHub and GitLab as a review sees them, on 127.0.0.1: each request is checked as their published interfaces say. */
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { buildSchema, graphql } from "graphql";
import { serveHttp } from "./http-server.ts";

interface HostComment {
  readonly id: number;
  body: string;
  /** Written by another user than the token's. */
  readonly isForeign: boolean;
  /** Undefined: about the change as a whole. */
  readonly place?: { readonly path: string; readonly line: number; readonly oldLine?: number } | undefined;
  isFolded: boolean;
  /** Who resolved it. */
  resolver?: "token" | "person" | undefined;
}

/** A change with the number 7, in a host that tests change. */
export interface ReviewHostServer {
  readonly environment: Readonly<Record<string, string>>;
  head: string;
  /** Patches by path, as `git diff` writes them from the first hunk on. */
  patches: Readonly<Record<string, string>>;
  readonly comments: HostComment[];
  /** Requests that change something. */
  readonly writes: string[];
  /** Answers the next changes with this status. */
  failure: number | undefined;
  /** GitHub: whether the token may resolve threads. */
  mayResolve: boolean;
}

const TOKEN = "token-of-the-host";

type Answer = readonly [status: number, body: unknown, headers?: Readonly<Record<string, string>>];

const schema = buildSchema(readFileSync(join(import.meta.dirname, "github.graphql"), "utf8"));

/** Numbers of the lines of a patch: of the new file, and of the old one where the line is in both. */
function listPatchLines(patch: string): Map<number, number | undefined> {
  const found = new Map<number, number | undefined>();
  let [oldLine, newLine] = [0, 0];
  for (const line of patch.split("\n")) {
    const hunk = /^@@ -(\d+)\S* \+(\d+)/.exec(line);
    if (hunk) [oldLine, newLine] = [Number(hunk[1]), Number(hunk[2])];
    if (line.startsWith("-")) oldLine += 1;
    if (line.startsWith("+")) found.set(newLine++, undefined);
    if (line.startsWith(" ")) found.set(newLine++, oldLine++);
  }
  return found;
}

function createState(): ReviewHostServer & { add: (comment: Partial<HostComment> & { body: string }) => HostComment } {
  const comments: HostComment[] = [];
  return {
    environment: {},
    head: "",
    patches: {},
    comments,
    writes: [],
    failure: undefined,
    mayResolve: true,
    add(comment) {
      const added = { id: comments.length + 1, isForeign: false, isFolded: false, ...comment };
      comments.push(added);
      return added;
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}

async function serve(
  isAllowed: (request: IncomingMessage) => boolean,
  answer: (method: string, url: URL, body: string) => Promise<Answer> | Answer,
): Promise<string> {
  const reply = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "", url = "" } = request;
    const body = await readBody(request);
    const [status, value, headers] = isAllowed(request)
      ? await answer(method, new URL(url, "http://host"), body)
      : ([401, { message: "Bad credentials" }] as const);
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
  };
  return serveHttp((request, response) => void reply(request, response));
}

const page = (all: readonly unknown[], after: string | null | undefined, size: number) => {
  const start = Number(after ?? 0);
  const nodes = all.slice(start, start + size);
  const end = start + nodes.length;
  return { pageInfo: { hasNextPage: end < all.length, endCursor: nodes.length > 0 ? String(end) : null }, nodes };
};

export async function createGitHubServer(): Promise<ReviewHostServer> {
  const state = createState();
  const find = (id: string): HostComment => {
    const found = state.comments.find((comment) => comment.id === Number(id.slice(1)));
    if (!found) throw new Error(`Could not resolve to a node with the global id of '${id}'`);
    return found;
  };
  const own = (id: string): HostComment => {
    const comment = find(id);
    if (comment.isForeign) throw new Error("a comment of another user was changed");
    return comment;
  };
  type Input = { input: Record<string, never> };
  const root = {
    repository: ({ owner, name }: { owner: string; name: string }) =>
      owner === "octo" && name === "cart" ? { pullRequest: toPull } : null,
    addComment: ({ input }: Input) => void state.add({ body: input.body! }),
    updateIssueComment: ({ input }: Input) => void (own(input.id!).body = input.body!),
    minimizeComment: ({ input }: Input) => void (own(input.subjectId!).isFolded = true),
    unminimizeComment: ({ input }: Input) => void (own(input.subjectId!).isFolded = false),
    resolveReviewThread: ({ input }: Input) => resolve(input.threadId!, "token"),
    unresolveReviewThread: ({ input }: Input) => resolve(input.threadId!, undefined),
    addPullRequestReview({
      input,
    }: {
      input: { commitOID: string; threads: { path: string; line: number; body: string }[] };
    }) {
      if (input.commitOID !== state.head) throw new Error("The commit is not the head");
      for (const { path, line } of input.threads) {
        if (!listPatchLines(state.patches[path] ?? "").has(line)) throw new Error("Line must be part of the diff");
      }
      for (const { body, ...place } of input.threads) state.add({ body, place });
    },
  };
  function resolve(id: string, resolver: HostComment["resolver"]): void {
    if (!state.mayResolve) throw new Error("Resource not accessible by integration");
    own(id).resolver = resolver;
  }
  const toComment = ({ id, body, isForeign, isFolded }: HostComment) => {
    return { id: `C${id}`, body, viewerDidAuthor: !isForeign, isMinimized: isFolded };
  };
  function toPull({ number }: { number: number }) {
    if (number !== 7) return null;
    const isPlaced = ({ place }: HostComment): boolean => place !== undefined;
    const plain = state.comments.filter((comment) => !isPlaced(comment)).map(toComment);
    const threads = state.comments.filter(isPlaced).map((comment) => ({
      id: `T${comment.id}`,
      isResolved: comment.resolver !== undefined,
      viewerCanResolve: state.mayResolve && !comment.resolver,
      viewerCanUnresolve: state.mayResolve && comment.resolver !== undefined,
      comments: { nodes: [toComment(comment)] },
    }));
    return {
      id: "P7",
      headRefOid: state.head,
      // Small pages, so that a reader must turn them.
      comments: ({ after }: { after?: string }) => page(plain, after, 2),
      reviewThreads: ({ after }: { after?: string }) => page(threads, after, 2),
    };
  }
  const isAllowed = ({ headers }: IncomingMessage): boolean => headers.authorization === `Bearer ${TOKEN}`;
  const url = await serve(isAllowed, async (method, { pathname, searchParams }, body) => {
    if (method === "GET" && pathname === "/repos/octo/cart/pulls/7/files") {
      const all = Object.entries(state.patches).map(([filename, patch]) => ({ filename, status: "modified", patch }));
      const size = Number(searchParams.get("per_page"));
      return [200, all.slice((Number(searchParams.get("page")) - 1) * size).slice(0, size)];
    }
    if (method !== "POST" || pathname !== "/graphql") return [404, { message: "Not Found" }];
    const { query, variables } = JSON.parse(body) as { query: string; variables: Record<string, unknown> };
    if (query.startsWith("mutation")) {
      if (state.failure !== undefined) return [state.failure, { message: "failure of the host" }];
      state.writes.push(/\{ (\w+)/.exec(query)![1]!);
    }
    return [200, await graphql({ schema, source: query, rootValue: root, variableValues: variables })];
  });
  const names = { GITHUB_REPOSITORY: "octo/cart", GITHUB_API_URL: url, GITHUB_GRAPHQL_URL: `${url}/graphql` };
  return Object.assign(state, { environment: { ...names, GITHUB_TOKEN: TOKEN } });
}

interface Position {
  readonly position_type: string;
  readonly new_path: string;
  readonly old_path: string;
  readonly new_line: number;
  readonly old_line?: number;
  readonly base_sha: string;
  readonly start_sha: string;
  readonly head_sha: string;
}

export async function createGitLabServer(): Promise<ReviewHostServer> {
  const state = createState();
  const toNote = ({ id, body, isForeign, place, resolver }: HostComment) => ({
    id,
    body,
    author: { id: isForeign ? 2 : 1 },
    resolvable: place !== undefined,
    ...(place && { resolved: resolver !== undefined, resolved_by: resolver && { id: resolver === "token" ? 1 : 2 } }),
  });
  const list = (all: readonly unknown[], query: URLSearchParams): Answer => {
    const [size, number] = [Math.min(2, Number(query.get("per_page"))), Number(query.get("page"))];
    const next = number * size < all.length ? String(number + 1) : "";
    return [200, all.slice((number - 1) * size, number * size), { "x-next-page": next }];
  };
  const change = (method: string, path: string, body: string): Answer => {
    if (state.failure !== undefined) return [state.failure, { message: "failure of the host" }];
    state.writes.push(`${method} ${path}`);
    const given = JSON.parse(body) as { body?: string; resolved?: boolean; position?: Position };
    const [, kind, id] = path.split("/");
    const found = state.comments.find((comment) => String(comment.id) === id?.replace("d", ""));
    if (method === "PUT" && (!found || found.isForeign)) return [404, { message: "404 Not found" }];
    if (method === "PUT" && kind === "notes") found!.body = given.body!;
    else if (method === "PUT") found!.resolver = given.resolved ? "token" : undefined;
    else if (kind === "notes") state.add({ body: given.body! });
    else return place(given.body!, given.position!);
    return [200, {}];
  };
  const place = (body: string, { new_path: path, new_line: line, old_line: oldLine, ...rest }: Position): Answer => {
    const known = listPatchLines(state.patches[path] ?? "");
    const refs = [rest.position_type, rest.base_sha, rest.start_sha, rest.head_sha, rest.old_path];
    const isRight = refs.join() === ["text", "b0", "b1", state.head, path].join();
    if (!isRight || !known.has(line) || known.get(line) !== oldLine)
      return [400, { message: "line_code can't be blank" }];
    state.add({ body, place: { path, line } });
    return [201, {}];
  };
  const isAllowed = ({ headers }: IncomingMessage): boolean => headers["private-token"] === TOKEN;
  const url = await serve(isAllowed, (method, { pathname, searchParams }, body) => {
    if (method === "GET" && pathname === "/user") return [200, { id: 1 }];
    const start = "/projects/42/merge_requests/7";
    const path = pathname.slice(start.length);
    if (!pathname.startsWith(start)) return [404, { message: "404 Not found" }];
    if (method !== "GET") return change(method, path, body);
    const diffs = Object.entries(state.patches).map(([name, diff]) => ({ new_path: name, old_path: name, diff }));
    if (path === "") return [200, { diff_refs: { base_sha: "b0", start_sha: "b1", head_sha: state.head } }];
    if (path === "/diffs") return list(diffs, searchParams);
    const toDiscussion = (comment: HostComment) => {
      return { id: `d${comment.id}`, individual_note: !comment.place, notes: [toNote(comment)] };
    };
    return path === "/discussions" ? list(state.comments.map(toDiscussion), searchParams) : [404, { message: path }];
  });
  const names = { GITLAB_CI: "true", CI_API_V4_URL: url, CI_PROJECT_ID: "42" };
  return Object.assign(state, { environment: { ...names, GITLAB_TOKEN: TOKEN } });
}
