import type { ReadableStore } from "@sheaf/client/chat";
import { useEffect, useState } from "preact/hooks";

export function useStore<State>(store: ReadableStore<State>): State {
  const [, redraw] = useState({});
  useEffect(() => {
    redraw({});
    return store.subscribe(() => redraw({}));
  }, [store]);
  return store.getSnapshot();
}
