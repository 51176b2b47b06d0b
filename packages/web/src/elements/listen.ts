/** Listens to events of these names. Returns a function that ends listening. */
export function listen(target: EventTarget, names: readonly string[], hear: (event: never) => void): () => void {
  for (const name of names) target.addEventListener(name, hear as EventListener);
  return () => {
    for (const name of names) target.removeEventListener(name, hear as EventListener);
  };
}
