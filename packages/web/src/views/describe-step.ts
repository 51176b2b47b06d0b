/** Describes a call in a few words, with its most informative argument. */
import type { Messages } from "../messages/messages.ts";
import { readObject, readText } from "./metadata.ts";
import type { ForeignMetadata, ShownDocument } from "./view.ts";

/** Describes a document of a call in one line. */
export function describeStep({ type, metadata }: ShownDocument, messages: Messages): string {
  if (type === "terminal_command") return `$ ${readText(metadata, "command")}`;
  if (type === "tool_call") return `${nameTool(metadata, messages)} ${toDetail(metadata)}`.trimEnd();
  const name = Object.hasOwn(messages.documentTypes, type) ? messages.documentTypes[type]! : type;
  return `${name} ${readText(metadata, "filePath")}`.trimEnd();
}

/** Returns the tool's name for the user; for a skill, the skill's name. */
export function nameTool(metadata: ForeignMetadata, messages: Messages): string {
  const toolName = readText(metadata, "toolName");
  const skill = readSkill(metadata);
  return skill === undefined ? toolName || messages.toolCall : messages.skill({ name: readText(skill, "name") });
}

/** Returns the arguments of a call that reads a skill; undefined for other calls. */
export function readSkill(metadata: ForeignMetadata): ForeignMetadata | undefined {
  const given = readObject(metadata, "arguments");
  const isSkill = readText(metadata, "toolName") === "read_skill" && given !== undefined;
  return isSkill && readText(given, "name") !== "" ? given : undefined;
}

/** Returns the most informative argument: a path, a pattern, a query, or the first string. For a skill, its file. */
export function toDetail(metadata: ForeignMetadata): string {
  const skill = readSkill(metadata);
  if (skill !== undefined) return readText(skill, "file").slice(0, 200);
  const given = readObject(metadata, "arguments");
  if (given === undefined) return "";
  const names = ["target_file", "pattern", "query", "path", "url", "command", "target_directory", "name"];
  const name = names.find((candidate) => readText(given, candidate) !== "");
  const text = name === undefined ? Object.values(given).find((value) => typeof value === "string") : given[name];
  return typeof text === "string" ? text.slice(0, 200) : "";
}
