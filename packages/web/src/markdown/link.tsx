import type { ComponentChildren } from "preact";
import { useConfirm } from "../elements/confirm.tsx";
import { VisibleText } from "../elements/visible-text.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { type LinkTarget, toLinkTarget } from "./link-target.ts";

/** A link in untrusted text. It shows its real target, and asks before it opens another host (S-63). */
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

/** A link instead of an image in a text of the model: the page never loads such an image (S-63). */
export function ImageLink({ address, description }: { readonly address: string; readonly description: string }) {
  const messages = useMessages();
  return (
    <Link address={address}>
      {messages.image}: {description === "" ? messages.withoutDescription : description}
    </Link>
  );
}

/** Returns a function that asks before it opens another host (S-63). */
function useLinkGuard(): (target: LinkTarget) => void {
  const messages = useMessages();
  const confirm = useConfirm();
  return ({ href, place }) => {
    const isMail = href.startsWith("mailto:");
    confirm({
      title: messages.linkTitle,
      text: (
        <>
          <p>{isMail ? messages.linkMailText : messages.linkText}</p>
          <VisibleText as="p" class="link-host" text={place} />
          <VisibleText as="p" class="link-address" text={href} />
        </>
      ),
      confirm: messages.linkOpen,
      onConfirm: () => open(href, "_blank", "noopener,noreferrer"),
    });
  };
}
