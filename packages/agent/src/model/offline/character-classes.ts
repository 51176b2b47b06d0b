/**
 * Ranges for regular expressions without the `u` flag. Unicode properties would be shorter,
 * but compiling one costs up to a millisecond, and the first request waits for it.
 */

/** Letters, digits and marks of all scripts that part words by blanks. */
export const wordCharacters = String.raw`0-9A-Za-z_$\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u1fff\ua000-\ud7ff`;

/** Han characters and kana. */
export const wideCharacters = String.raw`\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff`;

export const kanaCharacters = String.raw`\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff`;
