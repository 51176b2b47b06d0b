/** Keeps git from running what a repository brings along, where its user does not trust it (S-01). */

/**
 * Settings of the highest rank, for every git that a command starts. Hooks and the file watcher run without being asked
 * for; what else a repository's settings name (filters, pagers, signing) runs in the sandbox, as its scripts do.
 */
export const untrustedGitVariables: Readonly<Record<string, string>> = {
  GIT_CONFIG_COUNT: "2",
  GIT_CONFIG_KEY_0: "core.hooksPath",
  GIT_CONFIG_VALUE_0: "/dev/null",
  GIT_CONFIG_KEY_1: "core.fsmonitor",
  GIT_CONFIG_VALUE_1: "false",
};
