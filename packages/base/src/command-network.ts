/** What rules say about the network of commands: the part that whoever runs commands knows. */

/** What a rule calls the registries of a language. */
export type RegistryName = "npm" | "python" | "go" | "rust" | "ruby" | "java";

/** The registries for which commands may see the user's tokens. */
export type CredentialName = Extract<RegistryName, "npm" | "python" | "java">;

export interface CommandNetwork {
  /** True if any rule opens a host; if none does, commands have no network at all. */
  readonly isOpen: boolean;
  /** True if commands may reach a registry of a language: by its own rule, or perhaps by one for a host. */
  readonly mayDownload: (registry: string) => boolean;
  /** `host`: as `toHost` gives it. `reason`: why, in one line. */
  decide(host: string): Promise<{
    readonly decision: "allow" | "deny" | "ask";
    readonly reason: string;
    readonly mayBePrivate?: boolean;
  }>;
}

/** No command reaches any host. */
export const closedNetwork: CommandNetwork = {
  isOpen: false,
  mayDownload: () => false,
  decide: async () => ({ decision: "deny", reason: "commands have no network" }),
};

/** The hosts of the registries of a language, or why they are not known, in a sentence without a full stop. */
export type FindRegistryHosts = (registry: RegistryName, isDenial: boolean) => Promise<readonly string[] | string>;
