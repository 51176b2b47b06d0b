/** Splits the text of a recorded answer into the thinking at its start and the rest, as N129 does. */
export function splitThought(recorded: string): { readonly thought: string; readonly text: string } {
  const [tags = "", thought = ""] = /^<think>([\s\S]*?)<\/think>\s*/.exec(recorded) ?? [];
  return { thought, text: recorded.slice(tags.length) };
}
