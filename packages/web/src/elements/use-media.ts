import { useEffect, useState } from "preact/hooks";
import { listen } from "./listen.ts";

/** Returns true while a media query applies, for instance `(min-width: 1024px)`. */
export function useMedia(query: string): boolean {
  const [isMatch, setMatch] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const change = (): void => setMatch(list.matches);
    change();
    return listen(list, ["change"], change);
  }, [query]);
  return isMatch;
}
