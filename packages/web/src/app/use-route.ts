import { useEffect, useState } from "preact/hooks";
import { listen } from "../elements/listen.ts";

/** Returns the conversation's id, the only thing read from the address (S-63); undefined: a new conversation. */
export function useRoute(): string | undefined {
  const [route, setRoute] = useState(readRoute);
  useEffect(() => listen(window, ["hashchange"], () => setRoute(readRoute())), []);
  return route;
}

function readRoute(): string | undefined {
  return /^#\/([\w-]{1,200})$/.exec(location.hash)?.[1];
}

/** Changes the address; `replace` adds no step for the back button. */
export function goToConversation(id: string | undefined, { replace = false } = {}): void {
  const address = id === undefined ? "#/" : `#/${id}`;
  if (location.hash === address) return;
  if (!replace) location.hash = address;
  else {
    history.replaceState(undefined, "", address);
    dispatchEvent(new HashChangeEvent("hashchange"));
  }
}
