/** The changes of a conversation to its files since its start. Each file or hunk can be reverted alone (X28, X29). */
import { applyPatch, FILE_HEADERS_ONLY, formatPatch, reversePatch, structuredPatch, type StructuredPatch } from "diff";
import type { ChangedFileState, ChangeRevert } from "@sheaf/protocol";
import { writeFileAtomically } from "@sheaf/base/files/atomic-write";
import { readWholeFile } from "@sheaf/base/files/read-file";
import type { LeftOut } from "@sheaf/base/files/workspace";
import { decodeText, detectTextFormat, encodeText, type TextFormat } from "@sheaf/base/files/text-format";
import type { RevertRequest, RevertPorts } from "./revert.ts";
import { type FileSpan, isSameState } from "./file-spans.ts";
import {
  findMoves,
  NOT_KEPT,
  planFileReverts,
  type PresentFile,
  readAllPresent,
  UNKNOWN_BEFORE,
} from "./revert-files.ts";

/** Largest file that Sheaf compares, or reverts alone. Bytes. */
const MAX_HASHED_BYTES = 64 * 1024 * 1024;

/** Largest text that Sheaf compares. Bytes. */
const MAX_TEXT_BYTES = 1024 * 1024;

/** Once the patches of a conversation take this much, further files come without theirs. UTF-16 units. */
const MAX_PATCHES = 8 * 1024 * 1024;

/** Time limit of one comparison, which blocks all other work. A slower file has no patch. */
const PATCH_TIMEOUT_MS = 500;

/** Time limit of all comparisons together; further files have no patch. */
const ALL_PATCHES_MS = 3000;

const CONTEXT_LINES = 3;

/** The conversation whose changes Sheaf lists. */
interface ChangesRequest extends Pick<RevertRequest, "conversationId"> {
  /** The files of a workspace that rules forbid to read. */
  readonly readDenials: (workspace: string) => Pick<LeftOut, "has"> | undefined;
}

const NO_TEXT = "it is not text, or too large to be compared";

const HIDDEN = "a rule of this server forbids to read it";

/** Lists the changed files, but no file that is the same as at the start. */
export async function listChanges(request: ChangesRequest, ports: RevertPorts): Promise<readonly ChangedFileState[]> {
  const changed: ChangedFileState[] = [];
  let size = 0;
  let spent = 0;
  for (const change of await readChanges(request, ports)) {
    if (change.kind === "moved") changed.push(toRenamedFile(change));
    else if (change.kind === "fault") changed.push({ filePath: change.filePath, problem: change.problem });
    else {
      const startedAt = performance.now();
      const file = await toChangedFile(change.file, ports, size < MAX_PATCHES && spent < ALL_PATCHES_MS);
      spent += performance.now() - startedAt;
      size += file.patch?.length ?? 0;
      changed.push(file);
    }
  }
  return changed;
}

/** `conflict` is the reason for a refusal, which changed no file. */
interface ChangeOutcome {
  readonly conflict?: string;
}

/**
 * Reverts one file, or one hunk of its patch, to the start of the conversation; the user has seen the state that
 * `hash` names. Undefined: the conversation did not change the file. @throws SheafError CONVERSATION_BUSY, STORAGE_…
 */
export async function revertChange(
  request: ChangesRequest & ChangeRevert,
  ports: RevertPorts,
): Promise<ChangeOutcome | undefined> {
  const { conversationId, filePath, hash, hunk } = request;
  const release = await ports.store.lockConversation(conversationId);
  try {
    const change = (await readChanges(request, ports)).find((each) => each.filePath === filePath);
    if (!change) return undefined;
    if (change.kind === "fault") return { conflict: change.problem };
    const shown = change.kind === "moved" ? change.source : change.file;
    if (shown.state.kind === "unknown") return { conflict: "it is too large now: revert the response that changed it" };
    if (shown.sha256 !== hash) return { conflict: "it has changed since: read the changes again" };
    if (hunk !== undefined && change.kind === "changed") return await revertHunk(change.file, hunk, ports);
    const sources = change.kind === "moved" ? [change.source.span] : [];
    return await revertFiles([change.file.span, ...sources], ports);
  } finally {
    await release?.();
  }
}

/** A file that is not as it was at the start. */
type Change =
  | { readonly kind: "changed"; readonly filePath: string; readonly file: PresentFile }
  /** It is elsewhere now, unchanged. */
  | { readonly kind: "moved"; readonly filePath: string; readonly file: PresentFile; readonly source: PresentFile }
  | { readonly kind: "fault"; readonly filePath: string; readonly problem: string };

async function readChanges(request: ChangesRequest, ports: RevertPorts): Promise<readonly Change[]> {
  const gone = (await ports.store.listResponses(request.conversationId)).filter(({ reverted }) => !reverted);
  const { spans, unrecorded = [] } = await ports.readStates({ gone, coming: [], shown: [] });
  const visible: FileSpan[] = [];
  const faults: Change[] = unrecorded.map(({ filePath, reason }) => ({ kind: "fault", filePath, problem: reason }));
  const files: PresentFile[] = [];
  const denials = new Map<string, ReturnType<ChangesRequest["readDenials"]>>();
  for (const span of spans.filter(isShown)) {
    const denied = denials.get(span.workspace) ?? request.readDenials(span.workspace);
    denials.set(span.workspace, denied);
    if (denied?.has(span.filePath)) {
      faults.push({ kind: "fault", filePath: span.filePath, problem: HIDDEN });
      continue;
    }
    visible.push(span);
  }
  for (const [span, present] of await readAllPresent(visible, ports.environment, MAX_HASHED_BYTES)) {
    if (!present.ok) faults.push({ kind: "fault", filePath: span.filePath, problem: present.error.message });
    else if (!isSameState(present.value.state, span.before)) files.push(present.value);
  }
  const moves = findMoves(files);
  const sources = new Set(moves.values());
  const changes = files
    .filter((file) => !sources.has(file))
    .map((file): Change => {
      const source = moves.get(file);
      const { filePath } = file.span;
      return source ? { kind: "moved", filePath, file, source } : { kind: "changed", filePath, file };
    });
  return [...changes, ...faults];
}

/** Folders come and go with their files. */
function isShown({ before, after }: FileSpan): boolean {
  return before.kind !== "folder" && after.kind !== "folder";
}

function toRenamedFile({ filePath, source }: Extract<Change, { readonly kind: "moved" }>): ChangedFileState {
  const { sha256: hash } = source;
  return {
    filePath,
    newFilePath: source.span.filePath,
    operation: "rename",
    linesAdded: 0,
    linesRemoved: 0,
    ...(hash !== undefined && { hash }),
  };
}

async function toChangedFile(present: PresentFile, ports: RevertPorts, hasRoom: boolean): Promise<ChangedFileState> {
  const { span, state, sha256: hash } = present;
  const operation = span.before.kind === "absent" ? "create" : state.kind === "absent" ? "delete" : "edit";
  const head = {
    filePath: span.filePath,
    operation,
    ...(hash !== undefined && { hash }),
    ...(!isSameState(state, span.after) && { changedSince: true as const }),
  } as const;
  const texts = hasRoom
    ? await readTexts(present, ports)
    : "the patches before it are too large together, or take too long";
  const patch = typeof texts === "string" ? undefined : comparePatch(span.filePath, texts.before, texts.after);
  if (!patch) return { ...head, problem: typeof texts === "string" ? texts : "comparing it takes too long" };
  const lines = patch.hunks.flatMap((hunk) => hunk.lines);
  return {
    ...head,
    linesAdded: lines.filter((line) => line.startsWith("+")).length,
    linesRemoved: lines.filter((line) => line.startsWith("-")).length,
    patch: formatPatch(patch, FILE_HEADERS_ONLY),
  };
}

/** A text at the start and now; "" for a file that does not exist. */
interface Texts {
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** The format of the present file. */
  readonly format: TextFormat;
}

/** The texts, or the reason why they are not shown. */
async function readTexts({ span, workspace, path, state }: PresentFile, ports: RevertPorts): Promise<Texts | string> {
  const { before } = span;
  if (before.kind === "unknown") return UNKNOWN_BEFORE;
  if (before.kind === "link" || state.kind === "link") return "it is or was a link";
  const size = before.kind === "content" ? ports.contents.findSize(before.hash) : undefined;
  if (size !== undefined && size > MAX_TEXT_BYTES) return NO_TEXT;
  const kept = before.kind === "content" && size !== undefined ? await ports.contents.read(before.hash) : undefined;
  if (before.kind === "content" && !kept) return NOT_KEPT;
  const whole = state.kind === "absent" ? undefined : await readWholeFile(workspace.root, path, MAX_TEXT_BYTES);
  const old = toText(kept);
  const now = whole?.ok === false ? undefined : toText(whole?.value.bytes);
  if (!old || !now) return NO_TEXT;
  return { before: kept && old.text, after: whole && now.text, format: now.format };
}

function toText(
  bytes: Uint8Array = new Uint8Array(),
): { readonly text: string; readonly format: TextFormat } | undefined {
  const format = bytes.length > MAX_TEXT_BYTES ? undefined : detectTextFormat(bytes);
  const text = format && decodeText(bytes, format);
  return format && text !== undefined ? { text, format } : undefined;
}

/** Undefined where comparing takes too long. */
function comparePatch(
  filePath: string,
  before: string | undefined,
  after: string | undefined,
): StructuredPatch | undefined {
  const oldName = before === undefined ? "/dev/null" : `a/${filePath}`;
  const newName = after === undefined ? "/dev/null" : `b/${filePath}`;
  const options = { context: CONTEXT_LINES, timeout: PATCH_TIMEOUT_MS };
  return structuredPatch(oldName, newName, before ?? "", after ?? "", undefined, undefined, options);
}

async function revertFiles(spans: readonly FileSpan[], ports: RevertPorts): Promise<ChangeOutcome> {
  // The user has seen the state that this overwrites.
  const { reverts, conflicts } = await planFileReverts(spans, ports, true);
  if (reverts.length < spans.length) return { conflict: conflicts[0]?.reason ?? "" };
  for (const { apply } of reverts) {
    const applied = await apply();
    if (!applied.ok) return { conflict: applied.error.message };
  }
  return {};
}

async function revertHunk(present: PresentFile, index: number, ports: RevertPorts): Promise<ChangeOutcome> {
  const { span, workspace, path, identity } = present;
  const texts = await readTexts(present, ports);
  if (typeof texts === "string") return { conflict: texts };
  const { before, after, format } = texts;
  const patch = before !== undefined && after !== undefined ? comparePatch(span.filePath, before, after) : undefined;
  const hunk = patch?.hunks[index];
  if (!hunk || after === undefined) {
    return { conflict: `its patch has no hunk ${index} that can be reverted alone: revert the whole file` };
  }
  const reverted = applyPatch(after, reversePatch({ ...patch, hunks: [hunk] }), { autoConvertLineEndings: false });
  if (reverted === false) return { conflict: `hunk ${index} does not apply: read the changes again` };
  const written = await writeFileAtomically(workspace, path, encodeText(reverted, format), identity);
  return written.ok ? {} : { conflict: written.error.message };
}
