/** What the server and its clients send is one type, written twice: as a schema and as an interface. */
import type {
  ApprovalAnswer,
  ChatRequest,
  ConversationPage,
  ModelList,
  RevertRequest,
  RevertResult,
} from "@sheaf/protocol";
import { expectTypeOf, test } from "vitest";
import type * as z from "zod";
import type {
  conversationPageSchema,
  modelListSchema,
  revertResultSchema,
} from "../../src/output/schemas/api-answer-schemas.ts";
import type {
  approvalAnswerSchema,
  chatRequestSchema,
  revertRequestSchema,
} from "../../src/output/schemas/api-request-schemas.ts";

/** `readonly` is a promise of the interface; the wire knows none. */
type Mutable<Value> = Value extends object ? { -readonly [Name in keyof Value]: Mutable<Value[Name]> } : Value;

test("the interfaces of the protocol and the schemas of the server agree", () => {
  expectTypeOf<Mutable<ChatRequest>>().toEqualTypeOf<z.infer<typeof chatRequestSchema>>();
  expectTypeOf<Mutable<RevertRequest>>().toEqualTypeOf<z.infer<typeof revertRequestSchema>>();
  expectTypeOf<keyof ApprovalAnswer>().toEqualTypeOf<keyof z.infer<typeof approvalAnswerSchema>>();
  expectTypeOf<Mutable<ConversationPage>>().toEqualTypeOf<z.infer<typeof conversationPageSchema>>();
  expectTypeOf<Mutable<ModelList>>().toEqualTypeOf<z.infer<typeof modelListSchema>>();
  expectTypeOf<Mutable<RevertResult>>().toEqualTypeOf<z.infer<typeof revertResultSchema>>();
});
