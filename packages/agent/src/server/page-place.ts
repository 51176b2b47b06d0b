/** A place in a list, as clients carry it from page to page. */
import type { ConversationRecord } from "../store/store.ts";
import { HttpError } from "./http-error.ts";

type Place = Pick<ConversationRecord, "id" | "updatedAt">;

/** Opaque to clients. */
export function encodePlace({ updatedAt, id }: Place): string {
  return Buffer.from(`${updatedAt} ${id}`).toString("base64url");
}

/** @throws HttpError USAGE. */
export function decodePlace(text: string): Place {
  const [, time, id] = /^(\d{1,16}) (\S{1,200})$/.exec(Buffer.from(text, "base64url").toString()) ?? [];
  if (time !== undefined && id !== undefined) return { updatedAt: Number(time), id };
  throw new HttpError("USAGE", `before is ${JSON.stringify(text.slice(0, 100))}: send the "next" of the page before`);
}
