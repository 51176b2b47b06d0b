/** Failures as errors of the Agent Client Protocol. */
import { RequestError } from "@agentclientprotocol/sdk/unstable";
import { toSheafError } from "@sheaf/base/errors";

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly retryable?: boolean;
}

/** Runs an action whose usage error becomes invalid parameters, and whose missing key requests authentication. */
export async function translate<Result>(action: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof RequestError) throw error;
    const { code, message } = toSheafError(error);
    throw toRequestError({ code, message });
  }
}

/** Works like `translate`, for a request whose answer is only an acknowledgement. */
export function acknowledge(action: () => Promise<unknown>): Promise<Record<string, never>> {
  return translate(async () => {
    await action();
    return {};
  });
}

/** Turns a failure into an error with its advice; `data.code` is the code of the closed table (C20). */
export function toRequestError({ code, message, ...more }: Failure): RequestError {
  if (code === "USAGE") return RequestError.invalidParams({ code }, message);
  if (code === "AUTH_REQUIRED" || code === "AUTH_REJECTED") return RequestError.authRequired({ code }, message);
  return RequestError.internalError({ code, ...more }, message);
}
