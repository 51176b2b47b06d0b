/** `/v1/attachments`: files for later messages (X46), and files of a response (X48). */
import type { ChatAttachment, RunEvent } from "@sheaf/protocol";
import { chatAttachment } from "@sheaf/protocol/schemas";
import type { Context, Hono } from "hono";
import { toFileDisposition } from "../disposition.ts";
import { createNotFoundError } from "../http-error.ts";
import { largestWithFiles, readJsonBody, type LargeBody } from "../json-body.ts";
import { filePolicy } from "../security-headers.ts";
import type { ServerContext, ServerEnvironment } from "../server-context.ts";
import {
  addAttachment,
  findAttachment,
  listAttachments,
  readContent,
  toAttachmentInfo,
} from "../stored-attachments.ts";
import type { AttachmentRecord } from "@sheaf/store/store";

const largeBody: LargeBody<ChatAttachment> = { largest: largestWithFiles, measureFree: ({ data }) => data.length };

export function addAttachmentRoutes(app: Hono<ServerEnvironment>, context: ServerContext): void {
  const { storeOf, now, meter } = context;

  app.post("/v1/attachments", async (request) => {
    const upload = await readJsonBody(request.req, chatAttachment, largeBody);
    const record = await addAttachment(storeOf(request.get("owner")), upload, meter.attachments, now());
    return request.json(toAttachmentInfo(record), 201, { Location: `/v1/attachments/${record.id}` });
  });

  app.get("/v1/attachments", async (request) =>
    request.json(await listAttachments(storeOf(request.get("owner")), meter.attachments, now())),
  );

  app.get("/v1/attachments/:id", async (request) => {
    const store = storeOf(request.get("owner"));
    const record = await findAttachment(store, request.req.param("id"), meter.attachments, now());
    return request.json(toAttachmentInfo(record));
  });

  app.get("/v1/attachments/:id/content", async (request) => {
    const store = storeOf(request.get("owner"));
    const record = await findAttachment(store, request.req.param("id"), meter.attachments, now());
    return sendFile(request, record, await readContent(store, record.id));
  });

  app.delete("/v1/attachments/:id", async (request) => {
    const id = request.req.param("id");
    if (!(await storeOf(request.get("owner")).deleteAttachment(id))) throw createNotFoundError("attachment", id);
    return request.body(null, 204);
  });

  app.get("/v1/responses/:id/attachments/:number", async (request) => {
    const { id, number } = request.req.param();
    const owner = request.get("owner");
    // Each request reads and decodes the bytes of all files.
    const read = (limit?: number) => meter.loadWhole(owner, () => storeOf(owner).readEvents(id, 0, limit));
    const find = (log: readonly RunEvent[]) => {
      const files = log.flatMap((event) =>
        event.type === "run_start" || event.type === "user_message" ? (event.attachments ?? []) : [],
      );
      return /^[1-9]\d{0,2}$/.test(number) ? files[Number(number) - 1] : undefined;
    };
    // Files of messages that the user added later follow the files of the first event (C240).
    const attachment = find(await read(1)) ?? find(await read());
    if (!attachment) throw createNotFoundError("attachment", `${id} ${number}`);
    return sendFile(request, attachment, Buffer.from(attachment.data, "base64"));
  });
}

/** Sends bytes from an untrusted source: saved, or shown as an image, and never opened as a page (S-121). */
function sendFile(
  request: Context<ServerEnvironment>,
  { name, mediaType }: Pick<AttachmentRecord, "name" | "mediaType">,
  bytes: Uint8Array,
): Response {
  const type = mediaType === "text/plain" ? "text/plain; charset=utf-8" : mediaType;
  return request.body(new Uint8Array(bytes), 200, {
    "Content-Type": type,
    "Content-Disposition": toFileDisposition(name, mediaType),
    "Content-Security-Policy": filePolicy,
  });
}
