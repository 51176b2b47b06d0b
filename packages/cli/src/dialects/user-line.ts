/** A message of a program on stdin (C65). */
import type { Attachment } from "@sheaf/protocol";
import * as s from "@sheaf/protocol/schema";
import { toMessageAttachments } from "@sheaf/base/files/attachment";
import type { Message } from "./dialect.ts";
import { createLineError } from "./input-lines.ts";

const file = s.object({ type: s.literal("base64"), data: s.base64() });

const item = s.either([
  s.object({ type: s.literal("text"), text: s.string() }),
  s.object({ type: s.choice(["image", "document"]), source: file }),
]);

export const userLine = s.object({
  type: s.literal("user"),
  /** Use of the message during a run; `steer`: the running answer gets it (C240). */
  when_busy: s.optional(s.choice(["queue", "steer"])),
  message: s.object({ role: s.literal("user"), content: s.either([s.string(), s.list(item)]) }),
});

/** Reads a message. @throws SheafError USAGE for a message without text, or with a file that can't be used. */
export function toLineMessage({ message: { content } }: s.ValueOf<typeof userLine>, number: number): Message {
  const items = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const prompt = items.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
  if (prompt.trim() === "") throw createLineError(number, "is a message without text");
  const files = items.flatMap((part) => (part.type === "text" ? [] : [Buffer.from(part.source.data, "base64")]));
  return { prompt, ...toAttachments(files, number) };
}

function toAttachments(files: readonly Buffer[], number: number): { readonly attachments?: readonly Attachment[] } {
  if (files.length === 0) return {};
  try {
    return {
      attachments: toMessageAttachments(
        files.map((bytes, index) => ({ name: `file ${index + 1}`, bytes, isText: false })),
      ),
    };
  } catch (error) {
    throw createLineError(number, `cannot be used: ${error instanceof Error ? error.message : ""}`, error);
  }
}
