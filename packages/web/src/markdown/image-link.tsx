import { useMessages } from "../messages/use-messages.ts";
import { Link } from "./link.tsx";

/** An image in foreign text: never loaded, shown as a link (S-63). */
export function ImageLink({ address, description }: { readonly address: string; readonly description: string }) {
  const messages = useMessages();
  return (
    <Link address={address}>
      {messages.image}: {description === "" ? messages.withoutDescription : description}
    </Link>
  );
}
