import { useConversation } from "../conversation/conversation-port.ts";
import { useConversationActions } from "../conversation/message-row.tsx";
import { Button } from "../elements/button.tsx";
import { Icon } from "../elements/icon.tsx";
import { useUnfolded } from "../elements/remembered.ts";
import { CodedText } from "../elements/visible-text.tsx";
import { describeFailure } from "../messages/describe-failure.ts";
import { useMessages } from "../messages/use-messages.ts";
import { readFlag, readText } from "./metadata.ts";
import { isOpen, type ViewProps } from "./view.ts";

/** An error: what failed, why, and what to do, with a link to the failed call's document (R12, N39). */
export function ErrorView({ document, responseId, isCurrent }: ViewProps) {
  const messages = useMessages();
  const { retry } = useConversationActions();
  const { metadata } = document;
  const key = `${responseId}/${document.id}`;
  const [isUnfolded, setUnfolded] = useUnfolded(`${key}/details`);
  const details = readText(metadata, "details");
  const code = readText(metadata, "errorCode");
  const source = readText(metadata, "source");
  const isPassing = readFlag(metadata, "recoverable");
  const { title, advice } = describeFailure(code, isPassing, messages);
  return (
    <div class={`notice ${toTone(code, isPassing)}`} role={isOpen(document) ? undefined : "note"}>
      <Icon name={toIcon(code, isPassing)} />
      <div class="notice-body">
        <p class="notice-title">{title}</p>
        {advice === "" ? undefined : (
          <p class="notice-advice">
            <CodedText text={advice} />
          </p>
        )}
        {code === "CANCELLED" && source === "user" ? undefined : (
          <p class="notice-text" dir="auto">
            <CodedText text={document.content ?? ""} />
          </p>
        )}
        <p class="notice-facts">
          <code>{code}</code>
          <span>{source}</span>
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
        {isPassing || !isCurrent ? undefined : (
          <Button kind="quiet" icon="retry" label={messages.tryAgain} onClick={() => retry(responseId)} />
        )}
        {isUnfolded ? <pre class="notice-details">{details}</pre> : undefined}
      </div>
    </div>
  );
}

/** A refusal is a decision instead of a fault. */
function toIcon(code: string, isPassing: boolean): "stop" | "shield" | "warning" {
  if (code === "CANCELLED") return "stop";
  return code === "PERMISSION_DENIED" && isPassing ? "shield" : "warning";
}

function toTone(code: string, isPassing: boolean): string {
  if (code === "PERMISSION_DENIED" && isPassing) return "notice-neutral";
  if (isPassing) return "notice-quiet";
  return code === "CANCELLED" ? "notice-neutral" : "notice-bad";
}

function RelatedLink({ responseId, documentId }: { readonly responseId: string; readonly documentId: string }) {
  const messages = useMessages();
  const { findDocumentType, goToDocument } = useConversation();
  if (documentId === "" || findDocumentType(responseId, documentId) === undefined) return undefined;
  return <Button kind="plain" label={messages.showFailedStep} onClick={() => goToDocument(responseId, documentId)} />;
}
