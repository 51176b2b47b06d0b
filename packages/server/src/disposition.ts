/** The header `Content-Disposition` of a file to save. */
import type { AttachmentType } from "@sheaf/protocol";

/** A name for old clients, and one by RFC 8187. `fallback`: for a title without letters and digits. */
export function toDisposition(title: string, extension: string, fallback: string): string {
  const name = toBaseName(title, /[^\p{L}\p{M}\p{N}]+/gu) ?? fallback;
  const plain = toBaseName(title, /[^A-Za-z0-9]+/g) ?? fallback;
  return `attachment; filename="${plain}.${extension}"; filename*=UTF-8''${encodeURIComponent(`${name}.${extension}`)}`;
}

/** File extensions of each type. A file with another extension gets the first one. */
const extensions: Readonly<Record<Exclude<AttachmentType, "text/plain">, readonly [string, ...string[]]>> = {
  "image/png": ["png"],
  "image/jpeg": ["jpg", "jpeg"],
  "image/gif": ["gif"],
  "image/webp": ["webp"],
  "application/pdf": ["pdf"],
};

/** Extensions that a double click opens as a web page or runs as a program. */
const opened =
  /\.(html?|xhtml?|xht|shtml|svg|mht|mhtml|hta|bat|cmd|com|exe|pif|scr|vb[es]|jse|ws[fh]|reg|url|lnk|desktop|webloc)$/i;

/**
 * Keeps the name of a file if its extension matches its bytes. If not, changes it: `a.txt` with an image becomes
 * `a.png`, and a text that would open as a page or a program gets another `.txt` (S-121).
 */
export function toFileDisposition(name: string, mediaType: AttachmentType): string {
  const own = toOwnName(name, mediaType);
  const plain = own
    .replaceAll(/[^A-Za-z0-9._]+/g, "-")
    .replace(/^-*(?=\.|$)/, "file")
    .replace(/^-+/, "");
  const encoded = encodeURIComponent(own).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

function toOwnName(name: string, mediaType: AttachmentType): string {
  // Signs that no file system takes, that hide a file, or that end its name.
  const clean = name
    .toWellFormed()
    .normalize("NFC")
    .replaceAll(/[\p{Cc}\p{Cf}<>:"/\\|?*]+/gu, "-");
  const [, stem = "", extension = ""] = /^[.\s]*(.*?)(\.[^.\s]{1,20})?[.\s]*$/su.exec(clean) ?? [];
  const short = [...stem].slice(0, 100).join("");
  const base = short === "" || isDevice(short) ? `file${short && `-${short}`}` : short;
  if (mediaType === "text/plain") return `${base}${extension}${opened.test(extension) ? ".txt" : ""}`;
  const known = extensions[mediaType];
  return `${base}${known.includes(extension.slice(1).toLowerCase()) ? extension : `.${known[0]}`}`;
}

/** Windows keeps the names of its devices for itself. */
function isDevice(name: string): boolean {
  return /^(con|prn|aux|nul|com\d|lpt\d)$/i.test(name);
}

/** Shortens a title to 60 characters that every file system accepts. */
function toBaseName(title: string, others: RegExp): string | undefined {
  const words = title.toWellFormed().normalize("NFC").replaceAll(others, "-").replaceAll(/^-+/g, "");
  const name = [...words].slice(0, 60).join("").replaceAll(/-+$/g, "");
  return name === "" || isDevice(name) ? undefined : name;
}
