import { useConversation } from "../conversation/conversation-port.ts";
import { Button } from "../elements/button.tsx";
import { Icon } from "../elements/icon.tsx";
import { useRemembered } from "../elements/remembered.ts";
import { VisibleText } from "../elements/visible-text.tsx";
import { describeFailure } from "../messages/describe-failure.ts";
import { useMessages } from "../messages/use-messages.ts";
import { readFlag, readText } from "./metadata.ts";
import { isOpen, type ViewProps } from "./view.ts";

/** R12, N39: what failed, why, what to do; linked to the document of the call that failed. */
export function ErrorView({ document, responseId }: ViewProps) {
  const messages = useMessages();
  const { metadata } = document;
  const key = `${responseId}/${document.id}`;
  const [isUnfolded, setUnfolded] = useRemembered(`${key}/details`, false);
  const details = readText(metadata, "details");
  const code = readText(metadata, "errorCode");
  const isPassing = readFlag(metadata, "recoverable");
  const { title, advice } = describeFailure(code, isPassing, messages);
  return (
    <div class={`notice ${toTone(code, isPassing)}`} role={isOpen(document) ? undefined : "note"}>
      <Icon name={code === "CANCELLED" ? "stop" : "warning"} />
      <div class="notice-body">
        <p class="notice-title">{title}</p>
        {advice === "" ? undefined : <p class="notice-advice">{advice}</p>}
        {code === "CANCELLED" && !isPassing ? undefined : (
          <VisibleText as="p" class="notice-text" dir="auto" text={document.content ?? ""} />
        )}
        <p class="notice-facts">
          <code>{code}</code>
          <span>{readText(metadata, "source")}</span>
          <RelatedLink responseId={responseId} documentId={readText(metadata, "relatedDocumentId")} />
          {details === "" ? undefined : (
            <Button
              kind="plain"
              label={messages.details}
              aria-expanded={isUnfolded}
              onClick={() => setUnfolded(!isUnfolded)}
            />
          )}
        </p>
        {isUnfolded ? <pre class="notice-details">{details}</pre> : undefined}
      </div>
    </div>
  );
}

function toTone(code: string, isPassing: boolean): string {
  if (isPassing) return "notice-quiet";
  return code === "CANCELLED" ? "notice-neutral" : "notice-bad";
}

function RelatedLink({ responseId, documentId }: { readonly responseId: string; readonly documentId: string }) {
  const messages = useMessages();
  const { findDocumentType, goToDocument } = useConversation();
  if (documentId === "" || findDocumentType(responseId, documentId) === undefined) return undefined;
  return <Button kind="plain" label={messages.showFailedStep} onClick={() => goToDocument(responseId, documentId)} />;
}
