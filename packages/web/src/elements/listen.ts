/** Listens to events of these names. Returns the function that ends it. */
export function listen(target: EventTarget, names: readonly string[], hear: (event: never) => void): () => void {
  for (const name of names) target.addEventListener(name, hear as EventListener);
  return () => {
    for (const name of names) target.removeEventListener(name, hear as EventListener);
  };
}
