/** Settings of workspaces from git in the operator's configuration. */
import { isAbsolute } from "node:path";
import * as s from "@sheaf/protocol/schema";

const variableName = s.string({ pattern: "^[A-Za-z_]\\w*$" });
const absolutePath = s.refine(s.string({ minLength: 1, maxLength: 4000 }), "an absolute path", isAbsolute);

/** One workspace, in `gitWorkspaces` of the user's configuration (S-126, S-127). */
export const gitWorkspaceSettings = s.strict(
  s.object({
    /** Name for https. Default: `git`. */
    username: s.optional(s.string({ pattern: "^[^\\s:\\x00-\\x1f]{1,200}$" })),
    /** The variable that has the token or password of https. */
    tokenEnv: s.optional(variableName),
    /** The file that has it, instead of a variable. */
    tokenFile: s.optional(absolutePath),
    sshKeyFile: s.optional(absolutePath),
    /** Address to which Sheaf pushes states, instead of the repository; `none`: they stay at the server. */
    stateRemote: s.optional(s.string({ minLength: 1, maxLength: 4000 })),
    /** A command that runs in the sandbox, in each new tree. */
    setup: s.optional(s.string({ minLength: 1, maxLength: 4000 })),
    /** Default: 600. */
    setupSeconds: s.optional(s.integer({ minimum: 1, maximum: 3600 })),
    /** Days without a response after which Sheaf removes a tree. Default: 7. */
    keepTreeDays: s.optional(s.integer({ minimum: 1, maximum: 365 })),
  }),
);

export interface GitWorkspaceSettings extends s.ValueOf<typeof gitWorkspaceSettings> {}

/** A file with a token or a key. */
export interface NamedFile {
  /** Name of the setting, for messages. */
  readonly name: string;
  readonly path: string;
}

/** The files of all workspaces. A process may not serve them all, but its commands could read them. */
export function listCredentialFiles(workspaces: Readonly<Record<string, GitWorkspaceSettings>>): NamedFile[] {
  return Object.entries(workspaces).flatMap(([workspace, settings]) =>
    (["tokenFile", "sshKeyFile"] as const).flatMap((key) => {
      const path = settings[key];
      return path === undefined ? [] : [{ name: `gitWorkspaces.${workspace}.${key}`, path }];
    }),
  );
}
