/** Text to deltas, as a model's tokens would come. */

/** A group is about what one read of a socket brings. */
const groupSize = 64;
const wideDelta = 6;

/** Deltas of about a word, in groups of at most a sentence; joined they are the text. */
export function toTextGroups(text: string): string[][] {
  const groups: string[][] = [];
  let group: string[] = [];
  let size = 0;
  for (const delta of toDeltas(text)) {
    group.push(delta);
    size += delta.length;
    const isSentenceEnd = /[.!?。！？:：]["'”’)）」]?\s*$|\n\s*$/u.test(delta);
    if (size < groupSize && !isSentenceEnd) continue;
    groups.push(group);
    group = [];
    size = 0;
  }
  if (group.length > 0) groups.push(group);
  return groups;
}

/** A word with the blanks behind it; words without blanks, as in Chinese, in small pieces. */
function* toDeltas(text: string): Generator<string> {
  for (const match of text.matchAll(/^\s+\S*\s*|\S+\s*/g)) {
    const word = match[0];
    if (!/[\u2e80-\uffff]/.test(word)) {
      yield word;
      continue;
    }
    let piece = "";
    for (const character of word) {
      if (piece.length >= wideDelta && character.trim() !== "" && !/[、。，！？：；」』）]/u.test(character)) {
        yield piece;
        piece = "";
      }
      piece += character;
    }
    if (piece !== "") yield piece;
  }
}

/** The JSON text of arguments in a few pieces; a surrogate pair stays whole. */
export function toArgumentDeltas(json: string): string[] {
  const size = Math.max(24, Math.ceil(json.length / 8));
  const deltas: string[] = [];
  for (let at = 0; at < json.length;) {
    let end = Math.min(json.length, at + size);
    const code = json.charCodeAt(end - 1);
    if (end < json.length && code >= 0xd800 && code <= 0xdbff) end += 1;
    deltas.push(json.slice(at, end));
    at = end;
  }
  return deltas;
}
