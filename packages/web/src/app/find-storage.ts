/** Returns the browser's storage for the page, or for this tab alone; undefined if the browser forbids it. */
export function findStorage(where: "browser" | "tab" = "browser"): Storage | undefined {
  try {
    return where === "tab" ? sessionStorage : localStorage;
  } catch {
    return undefined;
  }
}
