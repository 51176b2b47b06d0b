/** The dialect of programs that were made for Claude Code, and of its Agent SDK (C200 to C204). */
import type { Notice } from "@sheaf/protocol";
import { toCursorModel } from "@sheaf/agent/config/cursor-models";
import { findModelName } from "@sheaf/agent/config/endpoints";
import type { CliDialect } from "../dialect.ts";
import { readClaudeArguments } from "./arguments.ts";
import { createClaudeJson, createClaudeStream } from "./lines.ts";
import { bypassNotice, toMode, toSettings } from "./rules.ts";
import { openClaudeSpeech } from "./speech.ts";

export const claudeDialect: CliDialect = {
  name: "claude-2026",
  readArguments(words, { cwd, environment }) {
    const { flags, positionals, notices: lost, state } = readClaudeArguments(words, cwd);
    const isTalk = flags["input-format"] === "stream-json";
    const { "no-save": isUnsaved, ...kept } = { ...flags, mode: toMode(state) };
    const message = "--no-session-persistence is ignored: a conversation needs its session; sheaf rm removes it";
    const token: Notice = {
      code: "FLAG_IGNORED",
      message: "CLAUDE_CODE_OAUTH_TOKEN is a subscription's and is sent to no one: see sheaf doctor",
    };
    const notices: Notice[] = [
      ...lost,
      ...(isTalk && isUnsaved ? [{ code: "FLAG_IGNORED", message } as const] : []),
      ...(state.permissionMode === "bypassPermissions" ? [bypassNotice] : []),
      ...(environment.CLAUDE_CODE_OAUTH_TOKEN ? [token] : []),
    ];
    return {
      parsed: {
        command: "prompt",
        flags: isTalk ? kept : { ...kept, ...(isUnsaved && { "no-save": isUnsaved }) },
        positionals,
      },
      notices,
      settings: toSettings(state),
      openSpeech: (talk) => openClaudeSpeech(talk, state, notices),
    };
  },
  format: "text",
  profile: "cursor-2026",
  createLines(format, { partial }) {
    if (format === "json") return createClaudeJson();
    return format === "stream-json" ? createClaudeStream({ isPartial: partial !== undefined }) : undefined;
  },
  toModel(name, settings) {
    const found = toCursorModel(name, settings);
    const isOwn = found.model !== undefined || name === undefined || findModelName({ ...settings, flags: {} });
    return isOwn || !name.startsWith("claude-") ? found : { model: `anthropic/${name}` };
  },
  isQuiet: true,
};
