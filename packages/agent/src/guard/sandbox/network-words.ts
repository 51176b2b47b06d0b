/** The words before bubblewrap that enter the network namespace of a run. */
import type { Environment } from "./environment.ts";
import { findProgram } from "./find-program.ts";

/** `entersUser`: its user namespace too, without which only a mighty root gets in. @throws Error where `nsenter` is missing. */
export function toNetworkWords(
  environment: Environment,
  descriptors: { readonly user: number; readonly network: number },
  entersUser: boolean,
): string[] {
  const program = findProgram("nsenter", environment);
  if (program === undefined)
    throw new Error("nsenter is not there, which gives commands a network: install util-linux");
  const toPath = (descriptor: number): string => `/proc/self/fd/${descriptor}`;
  return [
    program,
    ...(entersUser ? [`--user=${toPath(descriptors.user)}`] : []),
    `--net=${toPath(descriptors.network)}`,
    ...(entersUser ? ["--preserve-credentials"] : []),
  ];
}
