/** The names of the commands, and what words each takes: all that every start needs to know of them. */

/** By command, in the order of the help text: the words after its name. */
export const commandUsages = {
  answer: "SESSION QUESTION=OPTION…",
  show: "SESSION",
  ls: "",
  usage: "",
  "create-chat": "",
  export: "SESSION",
  import: "FILE",
  fork: "SESSION [RESPONSE]",
  rm: "SESSION…",
  replay: "FILE",
  schema: "NAME",
  convert: "--from FORMAT --to FORMAT",
  login: "PROVIDER",
  logout: "[PROVIDER]",
  models: "[PROVIDER]",
  revert: "SESSION [RESPONSE]",
  worktrees: "ls | rm NAME… | merge NAME",
  trust: "[DIR]",
  skills: "",
  permissions: "explain | check",
  serve: "",
  store: "check|migrate|export|vacuum|copy",
  config: "explain",
  doctor: "",
  completion: "bash|zsh|fish",
  "install-alias": "DIR [NAME…]",
  hooks: "ls | trust [FILE…] | test EVENT",
  mcp: "list|add|remove|trust|login …",
  acp: "[login PROVIDER]",
  help: "[COMMAND]",
} as const satisfies Readonly<Record<string, string>>;

export type CommandName = keyof typeof commandUsages;

/** Commands other than the prompt. */
export const commandNames = Object.keys(commandUsages) as CommandName[];
