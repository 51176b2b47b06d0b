/** Failures as errors of the Agent Client Protocol. */
import { RequestError } from "@agentclientprotocol/sdk/unstable";
import { toSheafError } from "@sheaf/base/errors";

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly retryable?: boolean;
}

/** A usage error becomes invalid parameters, a missing key a question for authentication; the rest is passed on. */
export async function translate<Result>(action: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof RequestError) throw error;
    const { code, message } = toSheafError(error);
    throw toRequestError({ code, message });
  }
}

/** As `translate`, for a request whose answer says nothing more than that it was done. */
export function acknowledge(action: () => Promise<unknown>): Promise<Record<string, never>> {
  return translate(async () => {
    await action();
    return {};
  });
}

/** The message says what to do; `data.code` is that of the closed table (C20). */
export function toRequestError({ code, message, ...more }: Failure): RequestError {
  if (code === "USAGE") return RequestError.invalidParams({ code }, message);
  if (code === "AUTH_REQUIRED" || code === "AUTH_REJECTED") return RequestError.authRequired({ code }, message);
  return RequestError.internalError({ code, ...more }, message);
}
