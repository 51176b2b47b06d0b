/** Commands of `cursor-agent` that Sheaf does not have: as a single word each prints why, and is not a prompt (C30). */

interface ForeignCommand {
  readonly text: string;
  /** Sheaf cannot do it: a usage error. Else there is nothing to do. */
  readonly isMissing?: true;
}

const update: ForeignCommand = {
  text: "Sheaf does not update itself: npm install --global sheaf@latest installs the newest version",
};
const shell: ForeignCommand = {
  text: "Sheaf needs no shell integration; sheaf completion prints a script for bash, zsh or fish",
};
const rule: ForeignCommand = { text: "Sheaf needs no rule files: what the model must know goes into AGENTS.md" };

const state: ForeignCommand = {
  text: "sheaf doctor shows the version, the model and where the keys are",
  isMissing: true,
};

/** Commands that exist in the profile of that program, for its clients (C43). */
export const profileCommands: readonly string[] = ["status", "whoami", "about"];

export const foreignCommands: Readonly<Record<string, ForeignCommand>> = {
  ...Object.fromEntries(profileCommands.map((name) => [name, state])),
  update,
  upgrade: update,
  "install-shell-integration": shell,
  "uninstall-shell-integration": shell,
  "generate-rule": rule,
  rule,
  persist: { text: "Sheaf stores every session by itself: sheaf --continue goes on with the newest", isMissing: true },
  plugin: { text: "Sheaf has no plugins: sheaf mcp add adds tools", isMissing: true },
  worker: { text: "Sheaf has no worker of a cloud: sheaf serve answers over HTTP", isMissing: true },
  bedrock: { text: "Sheaf names its provider by --model: see sheaf models", isMissing: true },
};
