/**
 * A word as it is compared: full-width forms narrowed, lower case, without diacritics, dotless i as i, ß as ss.
 * Kana keep their voicing marks, which change the word.
 */
export function toFolded(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  return text
    .normalize("NFKC")
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036f]/g, "")
    .normalize("NFC")
    .replaceAll("ı", "i")
    .replaceAll("ß", "ss");
}

/** The other way to write German umlauts: `fuehre` for `führe`; undefined when there is none. */
export function toSpelledOutUmlauts(text: string): string | undefined {
  if (!/[äöü]/i.test(text)) return undefined;
  return text.replaceAll(/ä/gi, "ae").replaceAll(/ö/gi, "oe").replaceAll(/ü/gi, "ue");
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    if (text.charCodeAt(index) > 0x7f) return false;
  }
  return true;
}
