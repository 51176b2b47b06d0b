/** Finds keys of services by their shape in other people's texts (S-41). */

/** Shapes that services announce. The first group stays, the second is the secret. */
export const keyShapes: readonly RegExp[] = [
  /\b(sk-ant-|sk-proj-|sk-or-|csk-|sk-|sk_live_|rk_live_|gsk_|xai-|pplx-|nvapi-|fw_|r8_|hf_|npm_|pypi-|glpat-|github_pat_|gh[pousr]_)([\w-]{8,})/g,
  /\b(xox[abeoprs]-)([\w-]{8,})/g,
  /\b(AIza)([\w-]{30,})/g,
  /\b(AKIA|ASIA)([0-9A-Z]{16})\b/g,
  /\b([Bb]earer )([\w.~+/-]{12,}=*)/g,
];

/** A value that the text calls a key, but not a word without a digit (`API key: missing`) or asterisks. */
const named =
  /((?:api|access|auth|secret|subscription)[ _-]?(?:key|token)(?: provided| given)?["']?\s?[:=]\s?["']?|[?&]key=|\bkey-)(?=[^\s"'&,;]{0,100}\d)(?![^\s"'&,;]{0,100}\*)([^\s"'&,;]{7,}[^\s"'&,;.])/gi;

/** A long run of characters, which may be random. */
const tokens = /[\w+/=.-]{32,}/g;

/** Replaces likely keys in the text by `[key]`. The prefix that identifies the service stays. */
export function maskKeys(text: string): string {
  const shaped = [...keyShapes, named].reduce((masked, shape) => masked.replace(shape, "$1[key]"), text);
  return shaped.replace(tokens, (token) => (isRandom(token) ? "[key]" : token));
}

/** True for random text: names of models and addresses have no such run of letters of both cases and digits. */
function isRandom(token: string): boolean {
  return (token.match(/[A-Za-z\d]{32,}/g) ?? []).some(
    (run) => /\d/.test(run) && /[a-z]/.test(run) && /[A-Z]/.test(run),
  );
}
