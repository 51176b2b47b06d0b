/** A browser for tests: the Chromium of the machine, which calls nobody over the network by itself. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { describeWhere } from "./describe-where.ts";

/** Tests may run as root in a container, so Chromium has no sandbox there; the rest keeps it silent. */
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-dev-shm-usage",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** `SHEAF_CHROMIUM`, or the first Chromium on the PATH. */
function findChromium(): string | undefined {
  const { SHEAF_CHROMIUM, PATH = "" } = process.env;
  if (SHEAF_CHROMIUM !== undefined && SHEAF_CHROMIUM !== "") return SHEAF_CHROMIUM;
  const folders = PATH.split(delimiter).filter((folder) => folder !== "");
  return ["chromium", "chromium-browser", "google-chrome"]
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const missing =
  "there is no Chromium on this machine: install it (apt-get install chromium), or set SHEAF_CHROMIUM to its path";

/** Starts it without a window. Whoever starts it closes it. Throws when there is none. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error(missing);
  return chromium.launch({ executablePath, args: flags, headless: true });
}

/** Runs `body` where there is a Chromium. Elsewhere one skipped test says so; with CI=true it fails. */
export function describeWithChromium(title: string, body: () => void): void {
  describeWhere(title, findChromium() === undefined ? missing : undefined, body);
}
