/** The header `Content-Disposition` of a file to save. */

/** A name for old clients, and one by RFC 8187. `fallback`: for a title without letters and digits. */
export function toDisposition(title: string, extension: string, fallback: string): string {
  const name = toBaseName(title, /[^\p{L}\p{M}\p{N}]+/gu) ?? fallback;
  const plain = toBaseName(title, /[^A-Za-z0-9]+/g) ?? fallback;
  return `attachment; filename="${plain}.${extension}"; filename*=UTF-8''${encodeURIComponent(`${name}.${extension}`)}`;
}

/** At most 60 characters that every file system accepts; Windows keeps the names of its devices for itself. */
function toBaseName(title: string, others: RegExp): string | undefined {
  const words = title.toWellFormed().normalize("NFC").replaceAll(others, "-").replaceAll(/^-+/g, "");
  const name = [...words].slice(0, 60).join("").replaceAll(/-+$/g, "");
  return name === "" || /^(con|prn|aux|nul|com\d|lpt\d)$/i.test(name) ? undefined : name;
}
