/** Refusals that break the contract. */
import { isResponse, reply, setError, setRequest, type BreakageCase, type Json } from "../breakage.ts";

export const errorBreakages: readonly BreakageCase[] = [
  ["a failure for a mistake", ["error-malformed"], setError((answer) => void (answer.status = 500))],
  ["errors that are no errors", ["error-malformed"], setError((answer) => void (answer.status = 200))],
  ["errors in plain words", ["error-malformed"],
    setError((answer) => Object.assign(answer, { body: "bad", headers: { "content-type": "text/plain" } }))],
  ["errors without a code", ["error-malformed"], setError(({ body }) => delete (body as { error: Json }).error["errorCode"])],
  ["codes in small letters", ["error-malformed"],
    setError(({ body }) => Object.assign((body as { error: Json }).error, { errorCode: "not found" }))],
  ["modes of every name", ["error-malformed"], setRequest((body) => (body["mode"] === "fast" ? { mode: "ask" } : {}))],
  ["an error that names no field", ["error-names-field"],
    setError(({ body }) => Object.assign(body as Json, { error: { errorCode: "USAGE", message: "no", source: "server", details: "" } }))],
  ["everybody let in", ["error-token"], { letsIn: () => true }],
  ["a token in the address", ["error-token"], { letsIn: ({ path }) => path.includes("?token=") }],
  ["an unknown response that is empty", ["error-unknown"], reply((request) => isResponse(request), {})],
  ["an unknown conversation that begins", ["error-unknown"], setRequest(() => ({ conversationId: undefined }))],
  ["a large body that is malformed", ["error-size"],
    setError((answer) => {
      if (answer.status === 413) answer.status = 400;
    })],
  ["forms that are taken", ["error-size"], { request: ({ headers }) => void (headers["content-type"] &&= "application/json") }],
]; // prettier-ignore
