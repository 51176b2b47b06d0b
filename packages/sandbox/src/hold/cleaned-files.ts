/**
 * Cleans files that package managers read at their start and that may contain tokens. Commands see only the settings of
 * registries in them (S-99). Hiding a file would make most of these programs fail.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { readSmallFile } from "@sheaf/base/files/open-file";
import { toExistingPath } from "./mounts.ts";

/** An address without user and password, query or fragment. */
const address = String.raw`https?:\/\/[^\s@?#"'<>]+`;
/** Matches a part of an address's path that may be a token: long, with characters of two kinds. */
export const tokenLike =
  /:\/\/[^/]+\/(?:.*\/)?(?:(?=[^/]*[a-z])(?=[^/]*[A-Z\d])[^/]{12,}|(?=[^/]*[A-Z])(?=[^/]*\d)[^/]{12,}|[^/]{32,})/;

type Cleaner = (text: string) => string;

const cleanNpm = keepLines(String.raw`(@[\w.-]+:)?registry\s*=\s*${address}`);
const cleanPip = keepLines(String.raw`\[global\]|(extra-)?index-url\s*=\s*${address}`);

/** Cleaners by place in the home folder. Each returns the text that commands see. */
const cleaners: Readonly<Record<string, Cleaner>> = {
  ".npmrc": cleanNpm,
  ".config/pnpm/rc": cleanNpm,
  ".yarnrc.yml": keepLines(String.raw`npmRegistryServer:\s*["']?${address}["']?`),
  ".config/pip/pip.conf": cleanPip,
  ".pip/pip.conf": cleanPip,
  ".m2/settings.xml": cleanMavenSettings,
};

function keepLines(pattern: string): Cleaner {
  const line = new RegExp(`^(${pattern})[ \\t]*$`);
  const isKept = (text: string): boolean => line.test(text) && !tokenLike.test(text);
  return (text) =>
    text
      .split(/\r?\n/)
      .filter(isKept)
      .map((kept) => `${kept}\n`)
      .join("");
}

/** Returns settings with the mirrors alone. */
function cleanMavenSettings(text: string): string {
  const mirrors = [...text.matchAll(/<mirror>([^]{0,2000}?)<\/mirror>/g)].flatMap(([, body = ""]) => {
    const fields = [...body.matchAll(/<(id|url|mirrorOf)>([^<>@?#&]{1,300})<\/\1>/g)].map(([field]) => field);
    return fields.some((field) => tokenLike.test(field)) ? [] : [`<mirror>${fields.join("")}</mirror>`];
  });
  return `<settings><mirrors>${mirrors.join("")}</mirrors></settings>\n`;
}

const maxBytes = 256 * 1024;

/** Writes cleaned files to a new folder that commands cannot see. Returns each original's real path and its copy's. */
export function cleanFiles(homes: readonly string[], folder: string): ReadonlyMap<string, string> {
  mkdirSync(folder, { mode: 0o700 });
  const places = homes.flatMap((home) => Object.keys(cleaners).map((place) => ({ place, path: join(home, place) })));
  return new Map(
    places.flatMap(({ place, path }, index) => {
      const original = toExistingPath(path);
      if (original === undefined) return [];
      const copy = join(folder, `${index}-${basename(place)}`);
      writeFileSync(copy, cleaners[place]!(readSmallFile(original, maxBytes) ?? ""), { mode: 0o600 });
      return [[original, copy] as const];
    }),
  );
}
