/** Merge requests of GitLab, by its REST API. */
import type { Environment } from "@sheaf/base/paths";
import { formatFinding, readMark, readPatch, SUMMARY } from "./findings.ts";
import { callApi, type PostedComment, readVariable, type ReviewHost } from "./review-host.ts";

type Refs = Readonly<{ base_sha: string; start_sha: string; head_sha: string }>;

type Diff = Readonly<{ old_path: string; new_path: string; diff: string }>;

interface Discussion {
  readonly id: string;
  readonly individual_note: boolean;
  readonly notes: readonly (Readonly<{ id: number; body: string; author: User; resolved?: boolean }> & {
    readonly resolved_by?: User | null;
  })[];
}

type User = Readonly<{ id: number }>;

export function createGitLab(number: number, environment: Environment, signal: AbortSignal): ReviewHost {
  const api = readVariable(environment, "CI_API_V4_URL");
  const project = encodeURIComponent(readVariable(environment, "CI_PROJECT_ID"));
  const headers = { "private-token": readVariable(environment, "GITLAB_TOKEN", "AUTH_REQUIRED") };
  const place = `${api}/projects/${project}/merge_requests/${number}`;
  const send = (method: "POST" | "PUT", path: string, body: unknown) =>
    callApi({ method, url: `${place}${path}`, headers, body }, signal);
  const readOne = async (url: string) => (await callApi({ url, headers }, signal)).json;
  const readAll = async (path: string): Promise<readonly unknown[]> => {
    const all: unknown[] = [];
    for (let page = "1"; page !== "";) {
      const answer = await callApi({ url: `${place}${path}?per_page=100&page=${page}`, headers }, signal);
      all.push(...(answer.json as unknown[]));
      page = answer.headers.get("x-next-page") ?? "";
    }
    return all;
  };
  let refs: Refs;
  let diffs: readonly Diff[];
  return {
    async read() {
      const { id: user } = (await readOne(`${api}/user`)) as User;
      ({ diff_refs: refs } = (await readOne(place)) as { diff_refs: Refs });
      diffs = (await readAll("/diffs")) as Diff[];
      const comments = new Map<string, PostedComment>();
      let summary: { id: string; body: string } | undefined;
      for (const { id: threadId, individual_note: isPlain, notes } of (await readAll("/discussions")) as Discussion[]) {
        const [note] = notes;
        const mark = note?.author.id === user ? readMark(note.body) : undefined;
        if (!note || mark === undefined) continue;
        const { resolved: isResolved = false, resolved_by: by } = note;
        const isSettled = isResolved && by?.id !== user;
        if (mark === SUMMARY && isPlain) summary ??= { id: String(note.id), body: note.body };
        else comments.set(mark, { id: String(note.id), threadId, isResolved, isSettled, mayResolve: true });
      }
      const lines = new Map(diffs.map(({ new_path: path, diff }) => [path, readPatch(diff)]));
      return { head: refs.head_sha, lines, comments, summary };
    },
    batchSize: 1,
    async postFindings([finding]) {
      const { path, line } = finding!;
      const { old_path, new_path, diff } = diffs.find((file) => file.new_path === path)!;
      const lines = { new_line: line, old_line: readPatch(diff).get(line)!.oldLine };
      const position = { ...refs, position_type: "text", old_path, new_path, ...lines };
      await send("POST", "/discussions", { body: formatFinding(finding!), position });
    },
    async setResolved({ threadId }, isResolved) {
      await send("PUT", `/discussions/${encodeURIComponent(threadId)}`, { resolved: isResolved });
    },
    async writeSummary(body, id) {
      if (id === undefined) await send("POST", "/notes", { body });
      else await send("PUT", `/notes/${encodeURIComponent(id)}`, { body });
    },
  };
}
