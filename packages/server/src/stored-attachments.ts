/** Uploaded files, which clients send before the messages that use them (X46, X47). */
import { randomUUID } from "node:crypto";
import type { AttachmentInfo, AttachmentList, ChatAttachment, ChatRequest } from "@sheaf/protocol";
import { SheafError } from "@sheaf/base/errors";
import type { AttachmentLimits, AttachmentRecord, SharedStore } from "@sheaf/store/store";
import { findExcess, messageLimits, toMessageFile } from "@sheaf/base/files/attachment";
import { HttpError, createNotFoundError } from "./http-error.ts";

/** Limits for uploads that the operator sets (S-200). */
export interface AttachmentSettings extends AttachmentLimits {
  /** Largest file, uploaded or inside a message. */
  readonly fileBytes: number;
  /** Time that messages can use a file after its upload (S-122). Milliseconds. */
  readonly keptMs: number;
}

/** Interval between deletions of old files. Milliseconds. */
const SWEEP_MS = 10 * 60 * 1000;

/** Waiting time in the answer to an owner with too many files. Deleting some helps more. Seconds. */
const DELETE_SECONDS = 60;

/** A message that contains all its files, so that it means the same wherever and whenever a server starts it. */
export type WholeRequest = Omit<ChatRequest, "attachments"> & { readonly attachments?: readonly ChatAttachment[] };

/** @throws HttpError LIMIT_REACHED; SheafError USAGE with the name of the file. */
export async function addAttachment(
  store: SharedStore,
  upload: ChatAttachment,
  settings: AttachmentSettings,
  createdAt: number,
): Promise<AttachmentRecord> {
  const bytes = Buffer.from(upload.data, "base64");
  checkSize(upload.name, bytes.length, settings);
  const made = toMessageFile(bytes, upload.name);
  if (!made.ok) throw new SheafError("USAGE", `${upload.name} ${made.problem}`);
  const { name, mediaType } = made.value;
  const record = { id: `att_${randomUUID()}`, name, mediaType, size: bytes.length, createdAt };
  if (await store.addAttachment(record, bytes, settings)) return record;
  const limit = `limit: ${settings.count}, ${settings.bytes} bytes together`;
  const message = `too many attachments without a message for one token (${limit}): send or delete some`;
  throw new HttpError("LIMIT_REACHED", message, { retryAfter: DELETE_SECONDS });
}

/** @throws SheafError USAGE with the name of the file and the operator's limit. */
function checkSize(name: string, bytes: number, { fileBytes }: AttachmentSettings): void {
  if (bytes <= fileBytes) return;
  const message = `${name} has ${bytes} bytes, at most ${fileBytes} are allowed here: make it smaller, or attach a part`;
  throw new SheafError("USAGE", message);
}

/** Lists the files that messages can use now, oldest first, with the limits for uploads (X108). */
export async function listAttachments(
  store: SharedStore,
  { fileBytes, count, bytes, keptMs }: AttachmentSettings,
  now: number,
): Promise<AttachmentList> {
  const records = await store.listAttachments();
  const { imageBytes, messageBytes, textBytes, messageFiles } = messageLimits;
  return {
    attachments: records.filter(({ createdAt }) => createdAt >= now - keptMs).map(toAttachmentInfo),
    limits: {
      fileBytes: Math.min(fileBytes, messageBytes),
      imageBytes: Math.min(fileBytes, imageBytes),
      textBytes,
      messageFiles,
      messageBytes,
      files: count,
      bytes,
      keptSeconds: keptMs / 1000,
    },
  };
}

/** @throws HttpError NOT_FOUND. */
export async function findAttachment(
  store: SharedStore,
  id: string,
  { keptMs }: AttachmentSettings,
  now: number,
): Promise<AttachmentRecord> {
  const record = await store.getAttachment(id);
  if (!record || record.createdAt < now - keptMs) throw createNotFoundError("attachment", id);
  return record;
}

/** @throws HttpError NOT_FOUND. */
export async function readContent(store: SharedStore, id: string): Promise<Uint8Array> {
  const bytes = await store.readAttachment(id);
  if (!bytes) throw createNotFoundError("attachment", id);
  return bytes;
}

export function toAttachmentInfo({ createdAt, ...record }: AttachmentRecord): AttachmentInfo {
  return { ...record, created: new Date(createdAt).toISOString() };
}

/** Adds the bytes of its files to the message. @throws HttpError NOT_FOUND; SheafError USAGE for too many bytes. */
export async function toWholeRequest(
  body: ChatRequest,
  store: SharedStore,
  settings: AttachmentSettings,
  now: number,
): Promise<WholeRequest> {
  const { attachments, ...rest } = body;
  if (!attachments) return rest;
  const found: (ChatAttachment | AttachmentRecord)[] = [];
  for (const each of attachments) {
    if ("data" in each) checkSize(each.name, Buffer.byteLength(each.data, "base64"), settings);
    found.push("data" in each ? each : await findAttachment(store, each.id, settings, now));
  }
  // This check precedes the reads, since a short message may use one large file many times.
  const named = found.flatMap((each) => ("data" in each ? [] : [{ mediaType: each.mediaType, bytes: each.size }]));
  const excess = findExcess(named);
  if (excess !== undefined) throw new SheafError("USAGE", excess);
  const files: ChatAttachment[] = [];
  for (const each of found) {
    if ("data" in each) files.push(each);
    else files.push({ name: each.name, data: Buffer.from(await readContent(store, each.id)).toString("base64") });
  }
  return { ...rest, attachments: files };
}

/** Deletes files of all owners that are too old (S-122), now and at intervals, until you call the result. */
export function startAttachmentSweep(
  store: SharedStore,
  { keptMs }: AttachmentSettings,
  now: () => number,
  onFailure: (error: unknown) => void,
): () => Promise<void> {
  const sweep = (): Promise<void> => store.deleteAttachmentsBefore(now() - keptMs).catch(onFailure);
  let sweeping = sweep();
  const timer = setInterval(() => void (sweeping = sweep()), SWEEP_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    return sweeping;
  };
}
