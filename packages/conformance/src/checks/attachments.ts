/** Checks of files that a client sends before their message (X46 to X48). */
import { atLevel } from "../check.ts";
import { readResponse, type Context } from "../context.ts";
import { demand, show } from "../violation.ts";

export const attachmentChecks = atLevel("interactive", [
  ["attachments", "X46 X47 X48 X108 S-121", "a message keeps a file that it uses, even after its deletion",
    checkAttachments],
]); // prettier-ignore

const words = "Seven words that are here for nothing.\n";

async function checkAttachments(context: Context): Promise<void> {
  const { http } = context;
  const body = { name: "words.txt", data: btoa(words) };
  const added = await http.expect(201, "X46", "POST", "/v1/attachments", { body });
  const { id, mediaType, size } = (added.json ?? {}) as Readonly<Record<"id" | "mediaType" | "size", unknown>>;
  const isFile = typeof id === "string" && mediaType === "text/plain" && size === words.length;
  demand(isFile, "X46", `POST /v1/attachments does not describe the file: ${show(added.text)}`);
  const path = `/v1/attachments/${id}`;
  const file = await http.expect(200, "X46", "GET", `${path}/content`);
  demand(file.text === words, "X46", `GET ${path}/content has other bytes than those sent: ${show(file.text)}`);
  const disposition = file.headers.get("content-disposition") ?? "";
  demand(
    disposition.startsWith("attachment"),
    "S-121",
    `GET ${path}/content has Content-Disposition ${show(disposition)}`,
  );
  const list = await http.expect(200, "X108", "GET", "/v1/attachments");
  const { attachments, limits } = (list.json ?? {}) as Readonly<Record<string, unknown>>;
  const isListed =
    Array.isArray(attachments) && attachments.some((each) => (each as { id?: unknown } | null)?.id === id);
  const { fileBytes } = (limits ?? {}) as Readonly<Record<string, unknown>>;
  demand(isListed, "X108", `GET /v1/attachments does not list the file: ${show(list.text)}`);
  demand(Number.isInteger(fileBytes), "X108", `GET /v1/attachments does not have the limits: ${show(list.text)}`);
  const request = { ...context.toRequest("text"), attachments: [{ id }] };
  const answer = await http.expect(200, "X47", "POST", "/v1/chat", { body: request });
  const response = readResponse(answer, "POST /v1/chat");
  await http.expect(204, "X46", "DELETE", path);
  await http.expectError(404, "GET", path);
  await http.expectError(404, "POST", "/v1/chat", { body: request });
  const kept = await http.expect(200, "X48", "GET", `/v1/responses/${response.id}/attachments/1`);
  demand(kept.text === words, "X48", `the attachment of ${response.id} has other bytes than those sent`);
}
