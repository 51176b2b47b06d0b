/** The dialect of programs made for `codex exec` (C210). */
import { toCursorModel } from "@sheaf/agent/config/cursor-models";
import { parseArguments } from "../../arguments.ts";
import type { CliDialect } from "../dialect.ts";
import { readCodexArguments } from "./arguments.ts";
import { createCodexLines } from "./lines.ts";

export const codexDialect: CliDialect = {
  name: "codex-2026",
  readArguments(words, { environment }) {
    const rest = words.filter((word) => !word.startsWith("--compat="));
    // These commands print other runs as lines of this dialect (C31).
    if (rest[0] === "show" || rest[0] === "convert") return { parsed: parseArguments(rest), notices: [] };
    const read = readCodexArguments(rest, environment);
    // The flag means `read-only`.
    return read.parsed.flags.sandbox === "enabled" ? { ...read, settings: { deny: ["Write(**)"] } } : read;
  },
  format: "text",
  profile: "cursor-2026",
  createLines: (format) => (format === "stream-json" ? createCodexLines() : undefined),
  // At another address, models have other names.
  toModel: (name, settings) =>
    settings.flags.baseUrl === undefined ? toCursorModel(name, settings) : { model: `openai/${name}` },
};
