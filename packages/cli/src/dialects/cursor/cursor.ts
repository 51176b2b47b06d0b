/** The dialect of programs made for `cursor-agent` (C30). */
import { toCursorModel } from "@sheaf/agent/config/cursor-models";
import { parseArguments } from "../../arguments.ts";
import type { CliDialect } from "../dialect.ts";
import { cursorFlags, profileCommands, takeCursorArguments } from "./arguments.ts";

export const cursorDialect: CliDialect = {
  name: "cursor-2026",
  readArguments(words, { environment }) {
    const read = takeCursorArguments(parseArguments(words, cursorFlags), environment);
    // `--approve-mcps` allows the user's file of servers, as in that program (S-108).
    return { ...read, settings: { readsCursorServers: read.parsed.flags["approve-mcps"] === true } };
  },
  format: "text",
  profile: "cursor-2026",
  toModel: toCursorModel,
  promptFlagCommands: new Set(["models", "mcp", "create-chat", "ls", "acp"]),
  statusWords: profileCommands,
  isQuiet: true,
  cancelLine: "Aborting operation...\n",
};
