/** Explains failures that the sandbox likely caused: programs report what failed, but do not know about the sandbox. */
import type { CommandPermission } from "@sheaf/protocol";

/** How a command ended. */
interface FailedCommand {
  readonly exitCode: number;
  readonly output: string;
  readonly permissions: readonly CommandPermission[];
}

const noNetwork =
  /network is unreachable|could not resolve|couldn't resolve|temporary failure in name resolution|name or service not known|failed to lookup address|getaddrinfo|\b(?:ENETUNREACH|EAI_AGAIN|ENOTFOUND)\b|no address associated/i;
const readOnly = /read-only file system|\bEROFS\b/i;
const busy = /device or resource busy|\bEBUSY\b/i;

/** Characters searched, from the end of the output. */
const maxLength = 64 * 1024;

/** A sentence for each restriction that the output mentions; none for a command that succeeded. */
export function explainFailure({ exitCode, output, permissions }: FailedCommand): string[] {
  if (exitCode === 0 || permissions.includes("unsandboxed")) return [];
  const text = output.slice(-maxLength);
  const sentences: string[] = [];
  if (readOnly.test(text)) {
    sentences.push(
      "In the sandbox a command can write the workspace and /tmp, except protected places in the workspace.",
    );
  } else if (busy.test(text)) {
    sentences.push(
      "In the sandbox protected places in the workspace, such as .git/config, cannot be replaced or moved.",
    );
  }
  if (noNetwork.test(text)) {
    sentences.push(
      permissions.includes("network")
        ? "In the sandbox hosts can be reached only through the proxy in HTTPS_PROXY, which also resolves their names."
        : 'The sandbox has no network; the user allows a host with --allow "Network(HOST)".',
    );
  }
  return sentences;
}
