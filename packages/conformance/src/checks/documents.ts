/** Checks of a response's documents. */
import type { ChatResponse, Document, ErrorDocument } from "@sheaf/protocol";
import { explainDocument } from "@sheaf/protocol/validate";
import { atLevel } from "../check.ts";
import type { Context } from "../context.ts";
import { demand, demandNone, show, Skip } from "../violation.ts";

export const documentChecks = atLevel("base", [
  ["documents-shape", "R3 R1 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13 N9 N10 N11 N12", "every document has the fields of its type, dense sequences, and the content that its type has",
    (context) => context.eachResponse(({ documents }) => documents.forEach(checkShape))],
  ["documents-fences", "N15 N17 R17", "no text document contains a top-level fence",
    (context) => context.eachResponse(({ documents }) => documents.forEach(checkFences))],
  ["documents-tools", "N31 N32 N33 N30 N36 N37 N38", "edits have diffs, renames a destination, calls a result, commands an exit code",
    (context) => context.eachResponse(({ documents }) => documents.forEach(checkTool))],
  ["documents-call-ids", "N29", "ids of tool calls are not empty and unique", (context) => context.eachResponse(checkCallIds)],
  ["documents-plan", "N40 N41", "the todos of a plan depend on each other without a cycle, and new ones have a text",
    (context) => context.eachResponse(({ documents }) => documents.forEach(checkTodos))],
  ["documents-failure", "N39 N35 R12", "a failed tool has an error document with its name", checkFailure],
  ["documents-kinds", "N28 N15 N42", "tools make documents of their types: the prompts show the types that they are for",
    checkKinds],
]); // prettier-ignore

const contentless = new Set(["tool_call", "terminal_command", "todo_update"]);

function checkShape(document: Document, index: number): void {
  const { id, type, sequence, content, status } = document;
  demandNone(explainDocument(document), "R3", id);
  demand(sequence === index + 1, "N10", `${id} has the sequence ${sequence} at place ${index + 1}`);
  demand(id === `doc_${String(sequence).padStart(3, "0")}`, "N9", `the document ${sequence} has the id ${show(id)}`);
  demand(status === undefined, "N3", `${id} of a finished response has the status ${show(status)}`);
  if (contentless.has(type)) demand(content === null, "N11", `the content of ${id}, a ${type}, is ${show(content)}`);
  else if (type !== "file_edit") demand(typeof content === "string", "N11", `the content of ${id}, a ${type}, is null`);
  if (type === "text") demand(content.trim() !== "", "N10", `${id} is an empty text`);
}

function checkFences(document: Document): void {
  if (document.type !== "text") return;
  const nested = document.metadata.codeBlocks ?? [];
  for (const { index } of document.content.matchAll(/^(?:`{3,}[^`\n]*|~{3,}.*)$/gm)) {
    const isNested = nested.some(({ offset, length }) => index >= offset && index <= offset + length);
    demand(
      isNested,
      "N15",
      `${document.id} contains a fence at ${index}: ${show(document.content.slice(index, index + 40))}`,
    );
  }
}

const permissions = new Set(["network", "write_outside_workspace", "credentials", "unsandboxed"]);

function checkTool(document: Document): void {
  const { id } = document;
  if (document.type === "tool_call") {
    const { result } = document.metadata;
    demand(result !== undefined, "N36", `${id} has no result`);
  }
  if (document.type === "terminal_command") {
    const { exitCode, permissions: used, workingDirectory = "" } = document.metadata;
    demand(Number.isInteger(exitCode), "N37", `the exit code of ${id} is ${show(exitCode)}`);
    const foreign = used.find((permission) => !permissions.has(permission));
    demand(foreign === undefined, "N38", `${id} has the permission ${show(foreign)}`);
    const isAbsolute = workingDirectory === "" || /^(?:\/|[A-Za-z]:|\\\\)/.test(workingDirectory);
    demand(isAbsolute, "N38", `the working directory of ${id} is ${show(workingDirectory)}`);
  }
  if (document.type !== "file_edit") return;
  const { operation, diff, newFilePath, state = "applied" } = document.metadata;
  if (operation === "edit" && state === "applied") demand(Boolean(diff), "N31", `${id} edits without a diff`);
  if (operation === "create" || operation === "delete") demand(!diff, "N31", `${id} has a diff, but is a ${operation}`);
  if (operation === "delete") demand(document.content === null, "N33", `${id} deletes, and has content`);
  if (operation === "rename") demand(Boolean(newFilePath), "N32", `${id} renames without newFilePath`);
}

function toCallId({ metadata }: Document): string | undefined {
  return "toolCallId" in metadata ? metadata.toolCallId : undefined;
}

function checkCallIds({ id, documents }: ChatResponse): void {
  const calls = documents.filter(({ type }) => type === "tool_call").map(toCallId);
  demand(!calls.includes(""), "N29", `${id} has a call with an empty toolCallId`);
  demand(new Set(calls).size === calls.length, "N29", `${id} has the same toolCallId twice: ${calls.join(", ")}`);
}

function checkTodos({ id, type, metadata }: Document): void {
  if (type !== "plan") return;
  const open = new Map(metadata.todos.map((todo) => [todo.id, todo.dependencies]));
  demand(open.size === metadata.todos.length, "N40", `${id} has the same todo twice`);
  for (const [todo, dependencies] of open) {
    const missing = dependencies.find((each) => !open.has(each));
    demand(missing === undefined, "N40", `todo ${todo} of ${id} depends on ${missing}, which is not in the plan`);
  }
  // The loop removes todos without open dependencies; a cycle remains.
  for (let size = -1; size !== open.size;) {
    size = open.size;
    for (const [todo, dependencies] of open) if (!dependencies.some((each) => open.has(each))) open.delete(todo);
  }
  demand(open.size === 0, "N40", `the todos ${[...open.keys()].join(", ")} of ${id} depend on each other in a cycle`);
}

/** True for a document whose tool failed, never ran, or was not allowed to. */
function isFailed(document: Document): boolean {
  if (document.type === "tool_call") return document.metadata.result.status === "error";
  if (document.type === "terminal_command") return document.metadata.exitCode === -1;
  return document.type === "file_edit" && ["failed", "rejected"].includes(document.metadata.state ?? "");
}

async function checkFailure(context: Context): Promise<void> {
  const { responseId } = await context.sample("failure");
  const { documents } = await context.getResponse(responseId);
  const failed = documents.filter(isFailed);
  if (failed.length === 0) throw new Skip('no tool of the prompt "failure" failed');
  const errors = documents.filter((document): document is ErrorDocument => document.type === "error");
  for (const document of failed) {
    const later = errors.filter(({ sequence }) => sequence > document.sequence);
    demand(later.length > 0, "N39", `${document.id} failed, and no error document follows it`);
    const linked = later.find(({ metadata }) => metadata.relatedDocumentId === document.id);
    demand(linked !== undefined, "N39", `no error document names ${document.id}, which failed`);
    const { errorCode, source } = linked.metadata;
    demand(/^[A-Z][A-Z0-9_]*$/.test(errorCode), "N39", `the errorCode of ${linked.id} is ${show(errorCode)}`);
    demand(source !== "", "N39", `the source of ${linked.id} is empty`);
  }
}

const expectedTypes = {
  text: "text",
  code: "code_block",
  reading: "tool_call",
  command: "terminal_command",
  writing: "file_edit",
  plan: "plan",
  todos: "todo_update",
  question: "clarification",
} as const;

async function checkKinds(context: Context): Promise<void> {
  const missing: string[] = [];
  await context.eachResponse(({ documents }, { name }) => {
    const type = Object.hasOwn(expectedTypes, name) ? expectedTypes[name as keyof typeof expectedTypes] : undefined;
    if (type && !documents.some((document) => document.type === type)) missing.push(`"${name}" no ${type}`);
  });
  // If a model doesn't follow the prompt, the server is not at fault.
  if (missing.length > 0) throw new Skip(`prompts showed no document of their type: ${missing.join(", ")}`);
}
