/** The port to pull requests. It uses GraphQL, since REST lacks the author's identity and the state of a thread. */
import { SheafError } from "@sheaf/base/errors";
import type { Environment } from "@sheaf/base/paths";
import { toOneLine } from "@sheaf/base/to-one-line";
import { formatFinding, readMark, readPatch, SUMMARY } from "./findings.ts";
import { callApi, type PostedReview, readVariable, type ReviewHost } from "./review-host.ts";

const READ = `query ($owner: String!, $name: String!, $number: Int!, $comments: String, $threads: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    id headRefOid
    comments(first: 100, after: $comments) { pageInfo { hasNextPage endCursor } nodes { id body viewerDidAuthor } }
    reviewThreads(first: 100, after: $threads) { pageInfo { hasNextPage endCursor } nodes {
      id isResolved viewerCanResolve viewerCanUnresolve comments(first: 1) { nodes { id body viewerDidAuthor isMinimized } }
    } }
  } }
}`;

interface Page<Node> {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  readonly nodes: readonly Node[];
}

type Comment = Readonly<{ id: string; body: string; viewerDidAuthor: boolean; isMinimized?: boolean }>;

type Thread = Readonly<{ id: string; isResolved: boolean; viewerCanResolve: boolean; viewerCanUnresolve: boolean }> & {
  readonly comments: Pick<Page<Comment>, "nodes">;
};

type Pull = Readonly<{ id: string; headRefOid: string; comments: Page<Comment>; reviewThreads: Page<Thread> }>;

export function createGitHub(number: number, environment: Environment, signal: AbortSignal): ReviewHost {
  const [owner = "", repo = ""] = readVariable(environment, "GITHUB_REPOSITORY").split("/");
  const api = readVariable(environment, "GITHUB_API_URL");
  const token = readVariable(environment, "GITHUB_TOKEN", "AUTH_REQUIRED");
  const headers = { authorization: `Bearer ${token}`, accept: "application/vnd.github+json", "user-agent": "sheaf" };
  const ask = async (query: string, variables: Readonly<Record<string, unknown>>): Promise<unknown> => {
    const url = readVariable(environment, "GITHUB_GRAPHQL_URL");
    const { json } = await callApi({ method: "POST", url, headers, body: { query, variables } }, signal);
    const { data, errors: [error] = [] } = json as { data?: unknown; errors?: { type?: string; message: string }[] };
    if (!error) return data;
    const code = error.type === "RATE_LIMITED" ? error.type : error.type === "FORBIDDEN" ? "AUTH_REJECTED" : "USAGE";
    throw new SheafError(code, `GitHub refused a request: ${toOneLine(error.message).slice(0, 200)}`);
  };
  const change = async (name: string, input: Readonly<Record<string, unknown>>): Promise<void> => {
    const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input`;
    await ask(`mutation ($input: ${type}!) { ${name}(input: $input) { clientMutationId } }`, { input });
  };
  let pull: Pull;
  return {
    async read() {
      const comments: Comment[] = [];
      const threads: Thread[] = [];
      const places: { comments?: string | null; threads?: string | null } = {};
      do {
        const answer = await ask(READ, { owner, name: repo, number, ...places });
        const found = (answer as { repository: { pullRequest: Pull | null } | null }).repository?.pullRequest;
        if (!found) throw new SheafError("USAGE", `${owner}/${repo} has no pull request ${number}: correct --change`);
        pull = found;
        comments.push(...pull.comments.nodes);
        threads.push(...pull.reviewThreads.nodes);
        places.comments = pull.comments.pageInfo.endCursor ?? places.comments!;
        places.threads = pull.reviewThreads.pageInfo.endCursor ?? places.threads!;
      } while (pull.comments.pageInfo.hasNextPage || pull.reviewThreads.pageInfo.hasNextPage);
      const summary = comments.find(({ body, viewerDidAuthor }) => viewerDidAuthor && readMark(body) === SUMMARY);
      const lines = await readLines(`${api}/repos/${owner}/${repo}/pulls/${number}/files`, headers, signal);
      return { head: pull.headRefOid, lines, comments: toPosted(threads), summary };
    },
    // One review, and so one message to those who follow the change.
    batchSize: Infinity,
    async postFindings(findings) {
      const threads = findings.map((one) => ({ path: one.path, line: one.line, body: formatFinding(one) }));
      const { id: pullRequestId, headRefOid: commitOID } = pull;
      await change("addPullRequestReview", { pullRequestId, commitOID, event: "COMMENT", threads });
    },
    // A token that may only write to pull requests can't resolve a thread, but it can fold its own comment.
    async setResolved({ id: subjectId, threadId, mayResolve }, isResolved) {
      if (isResolved) await change("minimizeComment", { subjectId, classifier: "RESOLVED" });
      else await change("unminimizeComment", { subjectId });
      if (mayResolve) await change(isResolved ? "resolveReviewThread" : "unresolveReviewThread", { threadId });
    },
    async writeSummary(body, id) {
      if (id === undefined) await change("addComment", { subjectId: pull.id, body });
      else await change("updateIssueComment", { id, body });
    },
  };
}

/** A person settled a resolved thread if its comment isn't folded. */
function toPosted(threads: readonly Thread[]): PostedReview["comments"] {
  return new Map(
    threads.flatMap(({ id: threadId, isResolved, viewerCanResolve, viewerCanUnresolve, comments }) => {
      const [comment] = comments.nodes;
      const mark = comment?.viewerDidAuthor ? readMark(comment.body) : undefined;
      if (!comment || mark === undefined) return [];
      const { id, isMinimized = false } = comment;
      const mayResolve = isResolved ? viewerCanUnresolve : viewerCanResolve;
      const isSettled = isResolved && !isMinimized;
      return [[mark, { id, threadId, isResolved: isMinimized, isSettled, mayResolve }] as const];
    }),
  );
}

async function readLines(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) {
  const lines = new Map<string, ReturnType<typeof readPatch>>();
  for (let page = 1; ; page += 1) {
    const { json } = await callApi({ url: `${url}?per_page=100&page=${page}`, headers }, signal);
    const files = json as readonly { readonly filename: string; readonly patch?: string }[];
    for (const { filename, patch = "" } of files) lines.set(filename, readPatch(patch));
    if (files.length < 100) return lines;
  }
}
