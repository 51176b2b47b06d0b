/** Masks the secrets in texts: keys by their shape, passwords by their name, and known values (S-256). */

/** The masked part of a secret in a text. UTF-16 units. */
export interface SecretPlace {
  readonly start: number;
  readonly end: number;
  /** True if more text may make this longer, or show that it is not a secret. */
  readonly isOpen: boolean;
}

/** Masks whole texts and texts in pieces. */
export interface TextMask {
  readonly mask: (text: string) => string;
  /** Opens a text in pieces. The masked pieces, joined, equal the masked text. */
  readonly openPieces: () => MaskedPieces;
}

export interface MaskedPieces {
  /** Returns the masked text, except for an end that may be part of a secret: a later piece decides. */
  push(piece: string): string;
  /** Ends the text, and returns the rest. */
  end(): string;
}

/** Replaces the secret part of a key. */
export const maskMark = "…[masked]";

const MAX_WORD = 4096;

/** Most UTF-16 units of a private key: a longer one has more than 16,384 bits. */
const MAX_BLOCK = 16_384;

/** Most UTF-16 units before a secret that identify it, such as a name and a prefix. */
const MAX_CONTEXT = 80;

/** Fewest UTF-16 units of a known value: shorter ones are too common to be secrets. */
const MIN_VALUE = 8;

/** Characters of a known value that stay visible. UTF-16 units. */
const SHOWN_VALUE = 2;

/** A kind of secret: `head` identifies it and stays visible, `body` is masked. */
interface Shape {
  readonly head: string;
  /** Pattern of one of its characters. */
  readonly body: string;
  /** Most UTF-16 units; a longer body is data, not a secret. Default: 4096. */
  readonly longest?: number;
  /** Decides on a body. `next` is the character after it. */
  readonly isSecret: (body: string, next: string | undefined) => boolean;
}

interface Finder {
  readonly kinds: readonly Shape[];
  readonly pattern: RegExp;
}

/** True for random characters: words, versions and examples (`xxxx`, `your-key`) have fewer kinds of them. */
function isRandom(text: string, least: number): boolean {
  return (
    text.length >= least &&
    /\d.*\d/s.test(text) &&
    /[A-Za-z].*[A-Za-z]/s.test(text) &&
    new Set(text).size >= Math.min(8, least - 2)
  );
}

const wordCharacter = "[\\w+/=-]|\\.(?=[\\w-]|$)";

const shapes: readonly Shape[] = [
  {
    head:
      "sk-(?:ant|proj|or|svcacct|admin|lf)-|github_pat_|gl(?:pat|dt|rt|cbt|ptt|soat|ft|agent|oas|imt)-|xox[abeoprs]-|xapp-|pypi-|" +
      "nvapi-|tvly-|whsec_|lin_api_|ntn_|figd_|PMAK-|glsa_|glc_|ATATT3|hv[sbr]\\.|ya29\\.|GOCSPX-|AIza|SG\\.|" +
      "pscale_(?:tkn|pw|oauth)_|sntry[su]_|NRAK-|HRKU-|pul-|dp\\.(?:pt|st|ct|sa|scim|audit)\\.|ops_eyJ|sq0(?:atp|csp)-|" +
      "dckr_[op]at_|AGE-SECRET-KEY-|hooks\\.slack\\.com/services/|FlyV1 fm\\d_",
    body: wordCharacter,
    isSecret: (body) => isRandom(body, 16),
  },
  {
    head: "gh[pousr]_|xai-|pplx-|csk-|npm_|hf_|gsk_|fw_|r8_|sbp_|shp(?:at|ss|ca|pa)_|[sr]k_(?:live|test)_|do[opr]_v1_|rubygems_|secret_|dapi|sk-|SK|key-",
    body: "[A-Za-z0-9]",
    isSecret: (body) => isRandom(body, 20),
  },
  { head: "A(?:KI|SI)A", body: "[0-9A-Z]", isSecret: (body) => body.length === 16 },
  { head: "\\d{8,10}:AA", body: "[\\w-]", isSecret: (body) => body.length >= 30 },
  { head: "eyJ", body: "[\\w.-]", isSecret: (body) => /^[\w-]{8,}\.[\w-]{8,}\./.test(body) },
  {
    head: "(?:[Bb]earer|BEARER|[Bb]asic|BASIC) ",
    body: "[\\w.~+/=-]",
    isSecret: (body) => isRandom(body, 16) || (/={1,2}$/.test(body) && body.length >= 12),
  },
  {
    head: "-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
    // The body includes the lines before the key, and the numbers that grep and cat put before each line.
    body: "[A-Za-z0-9+/=\\s:,|→]|\\\\[nr]?|-(?!-)",
    longest: MAX_BLOCK,
    isSecret: (body) => /[A-Za-z0-9+/]{32}/.test(body),
  },
];

/** The start of a word, an escaped line end or a terminal's color code. */
const wordStart = "(?:(?<!\\w)|(?<=\\\\[nrtbf]|\u001B\\[[\\d;]{0,12}m))";

/** True for an example: a word, a name of code, a path or a mask. */
function isExample(text: string): boolean {
  const words =
    /your|example|placeholder|changeme|redacted|masked|^(?:my[-_]?)?(?:pass(?:word|wd)?|pwd|secret|token|key)\d?$/i;
  return words.test(text) || /^(.)\1*$|^[a-z_$][\w$]*\.[\w$.=]+$|^[.~]{0,2}\/[\w.-]+\//i.test(text);
}

/** Names of secrets in files such as .env, in code, in JSON and in addresses. */
const names =
  "(?:secret|token|passw(?:or)?d|passphrase|pwd|credential|(?:api|access|auth|account|private|signing|encryption|master|license|" +
  "subscription|webhook|service|app|admin|client)[_-]?(?:key|pass)|[a-z\\d]_key)(?:[_-]?(?:\\d|key|base64|value))?";

const valueBody = "[^\\s\"'`;&|<>(){}\\[\\]\\\\$,\u001B]";

const keyFinder = toFinder(wordStart, shapes);

const valueFinders: readonly Finder[] = [
  // Finds NAME=value of an environment, even if the value is a word, since people choose words.
  toFinder(`(?<![$.{/-])${wordStart}`, [
    {
      head: "(?:[A-Z][A-Z0-9]{0,30}_){0,8}(?:[A-Z]{0,20}(?:SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE)|PASS|PWD|PAT)=[\"']?",
      body: valueBody,
      isSecret: (body) => body.length >= 6 && !/^(?:[a-z]{4,9}|[\d.:]+)$/i.test(body) && !isExample(body),
    },
  ]),
  toFinder(
    "",
    [
      {
        head: `${names}(?:\\\\?["'\`]?\\s?(?:=>|:=|[:=])\\s?\\\\?["'\`]|["']?(?:\\s?=|\\s=>|:)\\s|=)`,
        body: valueBody,
        isSecret: (body) => isRandom(body, 12) && !isExample(body),
      },
    ],
    "i",
  ),
  toFinder("", [
    {
      head: "://[^\\s/:@\"'`<>{}]{0,48}:",
      body: "[^\\s/@\"'`<>{}$]",
      isSecret: (body, next) => next === "@" && body.length >= 5 && !isExample(body),
    },
  ]),
];

function toFinder(before: string, kinds: readonly Shape[], flags = ""): Finder {
  const alternatives = kinds
    .map(({ head, body, longest = MAX_WORD }) => `(${head})((?:${body}){0,${longest}})`)
    .join("|");
  return { kinds, pattern: new RegExp(`${before}(?:${alternatives})`, `g${flags}`) };
}

function findShapes(text: string, { kinds, pattern }: Finder, mayGrow: boolean, from: number): SecretPlace[] {
  const places: SecretPlace[] = [];
  pattern.lastIndex = from;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const index = kinds.findIndex((_, at) => match?.[2 * at + 1] !== undefined);
    const body = match[2 * index + 2]!;
    const end = pattern.lastIndex;
    const start = end - body.length;
    const isOpen = mayGrow && end === text.length && body.length < (kinds[index]!.longest ?? MAX_WORD);
    if (isOpen || kinds[index]!.isSecret(body, text[end])) places.push({ start, end, isOpen });
    // The first line of an example is all of it: the rest is ordinary text.
    else if (/\s/.test(body)) pattern.lastIndex = start;
  }
  return places;
}

/**
 * Finds secrets by shape and name, in order and apart from each other.
 * @param mayGrow more of the text may follow.
 * @param from the first character to search.
 */
export function findSecrets(text: string, mayGrow = false, from = 0): SecretPlace[] {
  // Most pieces of an answer contain no value.
  const finders = /[:=]/.test(text) ? [keyFinder, ...valueFinders] : [keyFinder];
  return joinPlaces(finders.flatMap((finder) => findShapes(text, finder, mayGrow, from)));
}

type Find = (text: string, mayGrow: boolean, from: number) => SecretPlace[];

function joinPlaces(places: SecretPlace[]): SecretPlace[] {
  if (places.length < 2) return places;
  const joined: SecretPlace[] = [];
  for (const place of places.toSorted((one, other) => one.start - other.start)) {
    const last = joined.at(-1);
    if (!last || place.start > last.end) joined.push(place);
    else if (place.end >= last.end) {
      joined[joined.length - 1] = { ...place, start: last.start, isOpen: place.isOpen || last.isOpen };
    }
  }
  return joined;
}

/** @param secrets values that the process knows, such as its own keys; it ignores short ones. */
export function createTextMask(secrets: readonly string[] = []): TextMask {
  const forms = secrets.flatMap((value) => [
    value,
    encodeURIComponent(value.toWellFormed()),
    JSON.stringify(value).slice(1, -1),
  ]);
  const known = [...new Set(forms)].filter(({ length }) => length >= MIN_VALUE);
  const find: Find = (text, mayGrow, from) => {
    const values = known.flatMap((value) => findValue(text, value, mayGrow));
    return joinPlaces([...findSecrets(text, mayGrow, from), ...values]);
  };
  return {
    mask: (text) => (text === "" ? text : render(text, find(text, false, 0), 0)),
    openPieces: () => openPieces(find),
  };
}

function findValue(text: string, value: string, mayGrow: boolean): SecretPlace[] {
  const places: SecretPlace[] = [];
  for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + value.length)) {
    places.push({ start: at + SHOWN_VALUE, end: at + value.length, isOpen: false });
  }
  const begun = mayGrow ? Math.min(value.length - 1, text.length) : 0;
  for (let length = begun; length > SHOWN_VALUE; length -= 1) {
    if (!value.startsWith(text.slice(-length))) continue;
    return [...places, { start: text.length - length + SHOWN_VALUE, end: text.length, isOpen: true }];
  }
  return places;
}

function openPieces(find: Find): MaskedPieces {
  /** The end of the text so far: context before `sent`, unsent text after it. */
  let text = "";
  let [sent, from] = [0, 0];
  const take = (places: readonly SecretPlace[], until: number): string => {
    const masked = render(text.slice(0, until), places, sent);
    const kept = Math.max(text.lastIndexOf("\n", until - 1), until - MAX_CONTEXT, 0);
    text = text.slice(kept);
    sent = until - kept;
    // The first character may belong to a longer word now.
    from = kept > 0 ? 1 : from;
    return masked;
  };
  return {
    push(piece) {
      text += piece;
      const places = find(text, true, from);
      const last = places.at(-1);
      return take(places, last?.isOpen ? Math.max(last.start, sent) : text.length);
    },
    end: () => (sent === text.length ? "" : take(find(text, false, from), text.length)),
  };
}

/** Returns the text after `from` with its secrets masked. */
function render(text: string, places: readonly SecretPlace[], from: number): string {
  let masked = "";
  let at = from;
  for (const { start, end } of places) {
    const begin = Math.max(start, at);
    if (end <= at || begin >= text.length) continue;
    masked += text.slice(at, begin) + toMasked(text.slice(begin, end));
    at = end;
  }
  return masked + text.slice(at);
}

/** Masks a secret. Lines stay lines: a private key has as many as before. */
function toMasked(secret: string): string {
  return /\s|\\[nr]/.test(secret) ? secret.replaceAll(/(?<!\\)[^\s\\]+/g, maskMark) : maskMark;
}
