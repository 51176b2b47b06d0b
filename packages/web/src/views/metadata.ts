/** Reads fields of unchecked metadata. A field whose type differs from the contract is treated as missing. */
import { isJsonObject } from "@sheaf/protocol/check-value";
import type { ForeignMetadata } from "./view.ts";

export function readText(metadata: ForeignMetadata, name: string): string {
  const value = metadata[name];
  return typeof value === "string" ? value : "";
}

export function readNumber(metadata: ForeignMetadata, name: string): number | undefined {
  const value = metadata[name];
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

export function readFlag(metadata: ForeignMetadata, name: string): boolean {
  return metadata[name] === true;
}

export function readObject(metadata: ForeignMetadata, name: string): ForeignMetadata | undefined {
  const value = metadata[name];
  return isJsonObject(value) ? value : undefined;
}

export function readObjects(metadata: ForeignMetadata, name: string): readonly ForeignMetadata[] {
  const value = metadata[name];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function readTexts(metadata: ForeignMetadata, name: string): readonly string[] {
  const value = metadata[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
