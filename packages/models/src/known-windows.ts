/** Windows of known models, from models.dev at f3fc692, 2 July 2026. A provider's own list has priority. */

/** Id without its maker, in lower case, with dashes for points; then context and longest answer, in tokens. */
const knownWindows: readonly (readonly [id: RegExp, context: number, answer: number])[] = [
  [/^claude-(?:opus|sonnet)-4-[6-9]|^claude-(?:fable|opus|sonnet)-5/, 1_000_000, 128_000],
  [/^claude-(?:3|(?:opus|sonnet|haiku)-4)/, 200_000, 64_000],
  [/^gpt-5-[45](?!-mini|-nano)(?:-|$)/, 1_050_000, 128_000],
  [/^gpt-5-(?:[1-3]-chat|3-codex-spark)/, 128_000, 32_000],
  [/^gpt-5(?:-|$)/, 400_000, 128_000],
  [/^gpt-4-1/, 1_047_576, 32_768],
  [/^gpt-4(?:o|-turbo)/, 128_000, 16_384],
  [/^o[134](?:-|$)/, 200_000, 100_000],
  [/^gemini-(?:2-|3|flash|pro)(?!.*-(?:image|tts|live|audio))/, 1_048_576, 65_536],
  [/^deepseek-(?:v4|chat$|reasoner$)/, 1_000_000, 384_000],
  [/^grok-4-(?:3|20)/, 1_000_000, 30_000],
  [/^(?:devstral|codestral|mistral-(?:large|medium|small))-latest$/, 256_000, 65_536],
  [/^kimi-k2(?!-0711)/, 262_144, 65_536],
  [/^glm-5-2/, 1_000_000, 131_072],
  [/^glm-(?:4-[67]|5|5-1)(?:-flashx?)?$/, 200_000, 131_072],
  [/^minimax-m2/, 196_608, 131_072],
  [/^minimax-m3/, 1_000_000, 128_000],
  [/^qwen3-coder-(?:plus|flash)|^qwen3-[67]-(?:plus|flash)|^qwen3-7-max/, 1_000_000, 65_536],
  [/^qwen3-(?:coder|max)/, 262_144, 65_536],
];

/** Returns the most tokens of one request to a known model; undefined for other models. */
export function findKnownWindow(modelId: string): number | undefined {
  const id = modelId.split("/").at(-1)!.toLowerCase().replaceAll(".", "-");
  const known = knownWindows.find(([pattern]) => pattern.test(id));
  return known && toRequestTokens(known[1], known[2]);
}

/** Reserves room for the answer, which no model needs to its full length. */
export function toRequestTokens(context: number, answer: number): number {
  return Math.floor(context - Math.min(answer, context / 4));
}
