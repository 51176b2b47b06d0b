/** Why a command failed, where the sandbox is the likely reason: programs say what failed, and know nothing of a sandbox. */
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

/** Characters of the output that are looked through, from its end. */
const maxLength = 64 * 1024;

/** A sentence for each restriction that the output speaks of; none for a command that went well. */
export function explainFailure({ exitCode, output, permissions }: FailedCommand): string[] {
  if (exitCode === 0 || permissions.includes("unsandboxed")) return [];
  const text = output.slice(-maxLength);
  const sentences: string[] = [];
  if (readOnly.test(text)) {
    sentences.push(
      "In the sandbox only the workspace and /tmp can be written, and protected places in the workspace cannot.",
    );
  } else if (busy.test(text)) {
    sentences.push(
      "In the sandbox protected places in the workspace, such as .git/config, cannot be replaced or moved.",
    );
  }
  if (noNetwork.test(text)) {
    sentences.push(
      permissions.includes("network")
        ? "In the sandbox hosts are reached by the proxy of HTTPS_PROXY alone, which resolves their names."
        : 'In the sandbox there is no network; the user allows a host with --allow "Network(HOST)".',
    );
  }
  return sentences;
}
