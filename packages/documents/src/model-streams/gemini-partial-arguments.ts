import { formatJson, isJsonObject, readObjects, readString, type JsonObject } from "./read-json.ts";

/** Arguments that arrive as values with their places (Vertex, `partialArgs`). */
export interface GeminiPartialArguments {
  /** Takes the `partialArgs` of one payload. */
  add(partialArgs: unknown): void;
  /** Returns the JSON text of the arguments, or of the list of parts if these do not fit together. */
  formatArguments(): string;
  /** Returns the JSON text of the list of parts, for arguments that are incomplete. */
  formatParts(): string;
}

type PathSegment = string | number;

const maximumSegments = 100;

export function createGeminiPartialArguments(): GeminiPartialArguments {
  const root: JsonObject = {};
  const parts: JsonObject[] = [];
  /** Paths whose string continues with the next part. */
  const openPaths = new Set<string>();
  let fitsTogether = true;

  function addPart(part: JsonObject): void {
    const path = readString(part.jsonPath);
    const place = findPlace(root, parseJsonPath(path));
    const value = readValue(part);
    if (place === undefined || value === undefined) {
      fitsTogether = false;
      return;
    }
    const before = openPaths.has(path) ? place.read() : undefined;
    place.write(typeof before === "string" && typeof value === "string" ? before + value : value);
    if (part.willContinue === true) openPaths.add(path);
    else openPaths.delete(path);
  }

  return {
    add(partialArgs) {
      for (const part of readObjects(partialArgs)) {
        parts.push(part);
        addPart(part);
      }
    },
    formatArguments: () => formatJson(fitsTogether ? root : parts) ?? "",
    formatParts: () => formatJson(parts) ?? "",
  };
}

function readValue(part: JsonObject): string | number | boolean | null | undefined {
  for (const value of [part.stringValue, part.numberValue, part.boolValue]) {
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  }
  return part.nullValue === undefined ? undefined : null;
}

/** Parses a path: `$.a[0]['b c']` → ["a", 0, "b c"]; undefined for other text. */
export function parseJsonPath(path: string): PathSegment[] | undefined {
  if (!path.startsWith("$")) return undefined;
  const pathSegment = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;
  const segments: PathSegment[] = [];
  pathSegment.lastIndex = 1;
  while (pathSegment.lastIndex < path.length) {
    const match = pathSegment.exec(path);
    if (match === null || segments.length === maximumSegments) return undefined;
    const [, name, index, single, double] = match;
    segments.push(
      index === undefined ? (name ?? (single ?? double ?? "").replaceAll(/\\(.)/gsu, "$1")) : Number(index),
    );
  }
  return segments.length === 0 ? undefined : segments;
}

interface Place {
  read(): unknown;
  write(value: unknown): void;
}

/** Finds the place of a path, and makes the objects and arrays on the way. */
function findPlace(root: JsonObject, path: readonly PathSegment[] | undefined): Place | undefined {
  if (path === undefined) return undefined;
  let container: unknown = root;
  for (const [depth, segment] of path.entries()) {
    const parent: unknown = container;
    if (!isFitting(parent, segment)) return undefined;
    const next = path[depth + 1];
    if (next === undefined) {
      return { read: () => readOwn(parent, segment), write: (value) => writeOwn(parent, segment, value) };
    }
    container = readOwn(parent, segment);
    if (container === undefined) {
      container = typeof next === "number" ? [] : {};
      writeOwn(parent, segment, container);
    }
  }
  return undefined;
}

/** True if the place fits. Arrays grow by one entry at a time: a model's index must not make a million holes. */
function isFitting(container: unknown, segment: PathSegment): container is object {
  return typeof segment === "number"
    ? Array.isArray(container) && segment <= container.length
    : isJsonObject(container);
}

function readOwn(container: object, segment: PathSegment): unknown {
  return Object.getOwnPropertyDescriptor(container, segment)?.value;
}

/** Writes an own property, so that `__proto__` is a name like any other. */
function writeOwn(container: object, segment: PathSegment, value: unknown): void {
  Object.defineProperty(container, segment, { value, writable: true, enumerable: true, configurable: true });
}
