import { CodeText } from "../code/code-text.tsx";
import { Badge } from "../elements/card.tsx";
import { CopyButton } from "../elements/copy-button.tsx";
import { formatDuration } from "../elements/format.ts";
import { LineCard } from "../elements/line-card.tsx";
import { useUnfolded } from "../elements/remembered.ts";
import { VisibleText } from "../elements/visible-text.tsx";
import { useLanguage, useMessages } from "../messages/use-messages.ts";
import { nameTool, readSkill, toDetail } from "./describe-step.ts";
import { readFlag, readNumber, readObject, readText } from "./metadata.ts";
import { RunningBadge } from "./running-badge.tsx";
import { isFailed, isOpen, type ShownDocument, type ViewProps } from "./view.ts";

/** A call as one line that unfolds to its arguments and its result (R8, N36). */
export function ToolCallView({ document, responseId }: ViewProps) {
  const messages = useMessages();
  const key = `${responseId}/${document.id}`;
  const [isUnfolded, setUnfolded] = useUnfolded(`${key}/unfolded`);
  const { metadata } = document;
  return (
    <LineCard
      icon={readSkill(metadata) === undefined ? "tool" : "skill"}
      title={<VisibleText text={nameTool(metadata, messages)} />}
      detail={<VisibleText text={toDetail(metadata)} />}
      facts={<ToolFacts document={document} responseId={responseId} />}
      isUnfolded={isUnfolded}
      onToggle={setUnfolded}
    >
      <ToolBody document={document} memoryKey={key} />
    </LineCard>
  );
}

function ToolFacts({ document, responseId }: Pick<ViewProps, "document" | "responseId">) {
  const messages = useMessages();
  const language = useLanguage();
  const duration = readNumber(document.metadata, "duration_ms");
  return (
    <>
      {isOpen(document) ? <RunningBadge document={document} responseId={responseId} /> : undefined}
      {isFailed(document) ? <Badge tone="bad">{messages.editStates.failed}</Badge> : undefined}
      {duration === undefined ? undefined : formatDuration(duration, language)}
    </>
  );
}

function ToolBody({ document, memoryKey }: { readonly document: ShownDocument; readonly memoryKey: string }) {
  const messages = useMessages();
  const { metadata } = document;
  const result = readObject(metadata, "result");
  const rawArguments = readText(metadata, "rawArguments");
  const draft = readText(metadata, "draftOutput");
  return (
    <>
      <ToolPart
        title={messages.arguments}
        value={rawArguments === "" ? (metadata["arguments"] ?? {}) : rawArguments}
        memoryKey={`${memoryKey}/arguments`}
      />
      {result === undefined ? undefined : (
        <ToolPart title={messages.result} value={result["data"]} memoryKey={`${memoryKey}/result`} />
      )}
      {result === undefined && draft !== "" ? (
        <ToolPart title={messages.result} value={draft} memoryKey={`${memoryKey}/draft`} />
      ) : undefined}
      {result !== undefined && readFlag(result, "truncated") ? (
        <p class="card-note">{messages.resultCut}</p>
      ) : undefined}
    </>
  );
}

interface ToolPartProps {
  readonly title: string;
  readonly value: unknown;
  readonly memoryKey: string;
}

function ToolPart({ title, value, memoryKey }: ToolPartProps) {
  const messages = useMessages();
  const isText = typeof value === "string";
  const text = isText ? value : (JSON.stringify(value, undefined, 2) ?? "");
  return (
    <section class="tool-part" aria-label={title}>
      <div class="tool-part-head">
        <h4>{title}</h4>
        <CopyButton text={text} label={messages.copyPart({ part: title })} />
      </div>
      <CodeText code={text} language={isText ? "" : "json"} isOpen={false} label={title} memoryKey={memoryKey} />
    </section>
  );
}
