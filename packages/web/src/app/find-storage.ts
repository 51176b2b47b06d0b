/** What this browser keeps for the page; undefined if the browser forbids it. */
export function findStorage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}
