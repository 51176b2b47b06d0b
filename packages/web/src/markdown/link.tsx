import type { ComponentChildren } from "preact";
import { useLinkGuard } from "../elements/link-guard.tsx";
import { VisibleText } from "../elements/visible-text.tsx";
import { toLinkTarget } from "./link-target.ts";

/** A link in foreign text: shows its real target, and asks before it leads to another host (S-63). */
export function Link({ address, children }: { readonly address: string; readonly children: ComponentChildren }) {
  const openLink = useLinkGuard();
  const target = toLinkTarget(address, location.origin);
  if (target === undefined) {
    return (
      <span class="dead-link">
        {children}{" "}
        <span class="link-place">
          (<VisibleText text={address} />)
        </span>
      </span>
    );
  }
  const handle = (event: MouseEvent): void => {
    if (!target.isForeign || event.button > 1) return;
    event.preventDefault();
    openLink(target);
  };
  return (
    <a
      class="link"
      href={target.href}
      target="_blank"
      rel="noopener noreferrer"
      title={target.href}
      onClick={handle}
      onAuxClick={handle}
    >
      {children}
      <span class="link-place">
        {" "}
        (<bdi>{target.place}</bdi>)
      </span>
    </a>
  );
}
