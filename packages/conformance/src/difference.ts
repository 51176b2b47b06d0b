/** Finds the first place where two JSON values differ. */
import { demandNone } from "./violation.ts";

/** The first difference, such as `documents.0.content: "a" and "b"`; undefined if equal. Field order is free. */
export function explainDifference(one: unknown, other: unknown, path = ""): string | undefined {
  if (Object.is(one, other)) return undefined;
  if (!isContainer(one) || !isContainer(other) || Array.isArray(one) !== Array.isArray(other)) {
    return `${path || "value"}: ${cut(one)} and ${cut(other)}`;
  }
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const found = explainDifference(one[name], other[name], path === "" ? name : `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** @throws Violation if the values differ. */
export function demandEqual(one: unknown, other: unknown, clause: string, subject: string): void {
  demandNone(explainDifference(one, other), clause, subject);
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function cut(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
