/**
 * Maps every terminal colour to one of sixteen, so that each is readable on the page's background and no style
 * has to be written into the page.
 */

const names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;

/** Returns a name such as `red` or `bright-red`; undefined without a colour. */
export function toNearestColour(className: string | null, trueColour: string | null): string | undefined {
  if (className === null || className === undefined || className === "") return undefined;
  const palette = /^ansi-palette-(\d+)/.exec(className);
  if (palette) return toPaletteColour(Number(palette[1]));
  if (className.startsWith("ansi-truecolor")) return toNearest(readChannels(trueColour ?? ""));
  const named = /^ansi-((?:bright-)?[a-z]+)/.exec(className)?.[1];
  return named !== undefined && names.some((name) => named === name || named === `bright-${name}`) ? named : undefined;
}

function readChannels(text: string): readonly [number, number, number] {
  const [red = 0, green = 0, blue = 0] = text.split(",").map(Number);
  return [red, green, blue];
}

/** Returns one of xterm's 256 colours: 16 with names, a cube of 6 by 6 by 6, a ramp of greys. */
function toPaletteColour(index: number): string | undefined {
  if (index < 16) return `${index > 7 ? "bright-" : ""}${names[index % 8]!}`;
  if (index > 231) return toNearest(Array(3).fill((index - 232) * 10 + 8) as [number, number, number]);
  const cube = index - 16;
  const toChannel = (step: number): number => (step === 0 ? 0 : step * 40 + 55);
  return toNearest([toChannel(Math.floor(cube / 36)), toChannel(Math.floor(cube / 6) % 6), toChannel(cube % 6)]);
}

/** Returns the nearest of the sixteen colours: by hue if the colour has one, otherwise by brightness. */
function toNearest([red, green, blue]: readonly [number, number, number]): string {
  const high = Math.max(red, green, blue);
  const low = Math.min(red, green, blue);
  if (high - low < 40) {
    if (high < 64) return "black";
    if (high < 140) return "bright-black";
    return high < 220 ? "white" : "bright-white";
  }
  const middle = (high + low) / 2;
  const bits = (red > middle ? 1 : 0) + (green > middle ? 2 : 0) + (blue > middle ? 4 : 0);
  return `${high > 200 ? "bright-" : ""}${names[bits]!}`;
}
