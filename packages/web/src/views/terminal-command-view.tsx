import { useConversation } from "../conversation/conversation-port.ts";
import { toDocumentKey } from "../conversation/rows.ts";
import { Badge, Card } from "../elements/card.tsx";
import { CopyButton } from "../elements/copy-button.tsx";
import { formatDuration } from "../elements/format.ts";
import { LineCard } from "../elements/line-card.tsx";
import { useUnfolded } from "../elements/remembered.ts";
import { VisibleText } from "../elements/visible-text.tsx";
import { useLanguage, useMessages } from "../messages/use-messages.ts";
import { TerminalPanel } from "../terminal/terminal-panel.tsx";
import { readFlag, readNumber, readText, readTexts } from "./metadata.ts";
import { RunningBadge } from "./running-badge.tsx";
import { isOpen, type ShownDocument, type ViewProps } from "./view.ts";

/** A command: one line while it waits and after it succeeded, otherwise with its output (R9, N37, N38). */
export function TerminalCommandView(props: ViewProps) {
  const { document, responseId } = props;
  const [isUnfolded, setUnfolded] = useUnfolded(`${responseId}/${document.id}/unfolded`);
  const messages = useMessages();
  // While the command waits for a decision, the approval's card shows it.
  const isWaiting = useConversation().waiting.has(toDocumentKey(responseId, document.id));
  if (!isWaiting && !hasEndedWell(document)) return <TerminalCard {...props} />;
  return (
    <LineCard
      icon="terminal"
      detail={
        isWaiting ? (
          messages.approvalSubjects["command"]
        ) : (
          <VisibleText as="code" text={readText(document.metadata, "command")} />
        )
      }
      facts={<CommandFacts document={document} responseId={responseId} />}
      isUnfolded={isUnfolded}
      onToggle={setUnfolded}
    >
      <TerminalCard {...props} />
    </LineCard>
  );
}

function hasEndedWell(document: ShownDocument): boolean {
  const { metadata } = document;
  const isNotable = readFlag(metadata, "background") || readTexts(metadata, "refusals").length > 0;
  return !isOpen(document) && readNumber(metadata, "exitCode") === 0 && !isNotable;
}

function TerminalCard({ document, responseId }: ViewProps) {
  const messages = useMessages();
  const { metadata } = document;
  const command = readText(metadata, "command");
  const folder = readText(metadata, "workingDirectory");
  const output = readText(metadata, "output");
  const isLive = isOpen(document);
  return (
    <Card
      kind="terminal"
      icon="terminal"
      title={<VisibleText as="code" class="command" text={command} />}
      facts={<CommandFacts document={document} responseId={responseId} />}
      actions={<CopyButton text={command} label={messages.copyCommand} />}
    >
      {folder === "" ? undefined : (
        <div class="terminal-folder">
          <bdi>{messages.inFolder({ folder })}</bdi>
        </div>
      )}
      {output === "" ? (
        <div class="terminal-empty">{isLive ? messages.noOutputYet : messages.noOutput}</div>
      ) : (
        <TerminalPanel
          output={output}
          label={messages.outputOf({ command })}
          isLive={isLive}
          memoryKey={`${responseId}/${document.id}`}
        />
      )}
      {readFlag(metadata, "truncated") ? <div class="terminal-note">{messages.outputCut}</div> : undefined}
      {readTexts(metadata, "refusals").map((refusal) => (
        <VisibleText as="div" class="terminal-note" text={refusal} />
      ))}
    </Card>
  );
}

function CommandFacts({ document, responseId }: Pick<ViewProps, "document" | "responseId">) {
  const messages = useMessages();
  const language = useLanguage();
  const { metadata } = document;
  const exitCode = readNumber(metadata, "exitCode");
  const duration = readNumber(metadata, "duration_ms");
  return (
    <>
      {readTexts(metadata, "permissions").map((permission) => (
        <Badge tone="warning">{toPermissionName(permission, messages.permissions)}</Badge>
      ))}
      {readFlag(metadata, "background") ? <Badge>{messages.background}</Badge> : undefined}
      {readFlag(metadata, "timedOut") ? <Badge tone="bad">{messages.timedOut}</Badge> : undefined}
      {isOpen(document) ? <RunningBadge document={document} responseId={responseId} /> : undefined}
      {exitCode === undefined ? undefined : (
        <Badge tone={exitCode === 0 ? "good" : "bad"}>
          {exitCode === -1 ? messages.notStarted : messages.exitCode({ code: exitCode })}
        </Badge>
      )}
      {duration === undefined ? undefined : <span>{formatDuration(duration, language)}</span>}
    </>
  );
}

/** Returns the translated permission; a value outside the closed list stays as it is (N38). */
function toPermissionName(permission: string, names: Readonly<Record<string, string>>): string {
  return Object.hasOwn(names, permission) ? names[permission]! : permission;
}
