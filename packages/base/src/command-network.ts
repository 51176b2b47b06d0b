/** The rules for the network of commands, as the runner of commands needs them. */

/** The languages whose registries a rule can allow. */
export type RegistryName = "npm" | "python" | "go" | "rust" | "ruby" | "java";

/** The registries for which commands may see the user's tokens. */
export type CredentialName = Extract<RegistryName, "npm" | "python" | "java">;

export interface CommandNetwork {
  /** True if any rule opens a host; if none does, commands have no network at all. */
  readonly isOpen: boolean;
  /** True if commands may reach a registry of a language, by a rule for it or perhaps by one for a host. */
  readonly mayDownload: (registry: string) => boolean;
  /** Decides on a host, in the form of `toHost`. `reason` is one line. */
  decide(host: string): Promise<{
    readonly decision: "allow" | "deny" | "ask";
    readonly reason: string;
    readonly mayBePrivate?: boolean;
  }>;
}

/** The network of commands that cannot reach any host. */
export const closedNetwork: CommandNetwork = {
  isOpen: false,
  mayDownload: () => false,
  decide: async () => ({ decision: "deny", reason: "commands have no network" }),
};

/** Finds the registry hosts of a language. A string is the reason why they are unknown, without a full stop. */
export type FindRegistryHosts = (registry: RegistryName, isDenial: boolean) => Promise<readonly string[] | string>;
