import { useMessages } from "../messages/use-messages.ts";
import type { LinkTarget } from "../markdown/link-target.ts";
import { useConfirm } from "./confirm.tsx";
import { VisibleText } from "./visible-text.tsx";

/** Returns a function that asks before a link leads to another host (S-63). */
export function useLinkGuard(): (target: LinkTarget) => void {
  const messages = useMessages();
  const confirm = useConfirm();
  return ({ href, place }) => {
    const isMail = href.startsWith("mailto:");
    confirm({
      title: messages.linkTitle,
      text: (
        <>
          <p>{isMail ? messages.linkMailText : messages.linkText}</p>
          <p class="link-host">
            <VisibleText text={place} />
          </p>
          <p class="link-address">
            <VisibleText text={href} />
          </p>
        </>
      ),
      confirm: messages.linkOpen,
      onConfirm: () => open(href, "_blank", "noopener,noreferrer"),
    });
  };
}
