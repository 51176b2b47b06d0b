import type { ConversationSettings } from "@sheaf/client/chat";
import type { ModelInfo } from "@sheaf/protocol";
import { useEffect, useRef } from "preact/hooks";
import { Choice } from "../elements/choice.tsx";
import { Icon } from "../elements/icon.tsx";
import { useMessages } from "../messages/use-messages.ts";
import type { FileLimits } from "./attached-file.ts";
import { DraftFiles, FileButton, useAttachedFiles } from "./attached-files.tsx";
import { type CompletionPort, createCompletionSources } from "./completion-sources.ts";
import { type Draft, isSendable } from "./draft.ts";
import type { DraftStore } from "./draft-store.ts";
import { useStore } from "../elements/use-store.ts";
import { CodedText } from "../elements/visible-text.tsx";
import { useMedia } from "../elements/use-media.ts";
import { useCompletion } from "./use-completion.tsx";

/** Limits of a pasted text: a longer one becomes a file of the message, so that the message stays readable. */
const longPaste = { characters: 4000, lines: 60 };

interface ComposerProps {
  readonly drafts: DraftStore;
  readonly readLimits: () => Promise<FileLimits>;
  readonly describe: (error: unknown) => string;
  readonly settings: ConversationSettings;
  readonly onConfigure: (change: Partial<ConversationSettings>) => void;
  readonly models: readonly ModelInfo[];
  readonly completion: CompletionPort;
  readonly isStreaming: boolean;
  readonly isCancelling: boolean;
  readonly isOffline: boolean;
  /** The reason why the last message was not accepted. */
  readonly refusal: string | undefined;
  readonly onSend: () => void;
  readonly onStop: () => void;
}

/** The message field, with the mode and the model for the answer. */
export function Composer(props: ComposerProps) {
  const messages = useMessages();
  const { drafts, settings, onConfigure, onSend } = props;
  const draft = useStore(drafts);
  const field = useGrowingField(draft.text);
  const files = useAttachedFiles({
    findFiles: () => drafts.getSnapshot().files,
    readLimits: props.readLimits,
    onAdd: drafts.addFile,
  });
  // The keyboard of a phone has no Shift+Enter, so Enter starts a line there.
  const isTouch = useMedia("(hover: none) and (pointer: coarse)");
  const completion = useCompletion(field, createCompletionSources(props.completion, messages), drafts.write);
  const refusals = files.problems.length > 0 || props.refusal === undefined ? files.problems : [props.refusal];
  const send = (event: Event): void => {
    event.preventDefault();
    if (isSendable(draft)) onSend();
    field.current?.focus();
  };
  return (
    <form class="composer" onSubmit={send} id="composer">
      {refusals.map((refusal) => (
        <p key={refusal} class="composer-refusal" role="alert">
          <Icon name="warning" /> <CodedText text={refusal} />
        </p>
      ))}
      <DraftFiles
        files={draft.files}
        describe={props.describe}
        onRemove={drafts.removeFile}
        onRetry={drafts.retryFile}
      />
      {completion.list}
      <textarea
        ref={field}
        class="composer-field"
        rows={1}
        dir="auto"
        enterkeyhint={isTouch ? "enter" : "send"}
        aria-label={messages.message}
        placeholder={messages.messagePlaceholder}
        value={draft.text}
        {...completion.attributes}
        onInput={(event) => {
          drafts.write(event.currentTarget.value);
          completion.look();
        }}
        onClick={completion.look}
        onBlur={completion.close}
        onPaste={(event) => {
          const text = toLongText(event.clipboardData, draft);
          const pasted = [...(event.clipboardData?.files ?? []), ...text];
          if (pasted.length > 0) event.preventDefault();
          files.add(pasted);
        }}
        onKeyDown={(event) => {
          if (completion.press(event)) return event.preventDefault();
          if (event.key !== "Enter" || event.shiftKey || isTouch) return;
          // In an input method, Enter chooses a character.
          if (!event.isComposing && event.keyCode !== 229) send(event);
        }}
      />
      <div class="composer-bar">
        <Choice
          label={messages.mode}
          value={settings.mode}
          options={messages.modes}
          onChange={(mode) => onConfigure({ mode })}
        />
        <ModelChoice models={props.models} model={settings.model} onConfigure={onConfigure} />
        <Choice
          label={messages.effort}
          value={settings.effort ?? ""}
          options={{ "": messages.defaultEffort, ...messages.efforts }}
          onChange={(effort) => onConfigure({ effort: effort === "" ? undefined : effort })}
        />
        <FileButton onChoose={files.add} />
        <SendButtons {...props} draft={draft} />
      </div>
    </form>
  );
}

/** Returns a pasted text that is too long for the field as a file. */
function toLongText(pasted: DataTransfer | null, { files }: Draft): readonly File[] {
  const text = pasted?.getData("text/plain") ?? "";
  if (text.length <= longPaste.characters && text.split("\n").length <= longPaste.lines) return [];
  const number = files.filter(({ name }) => /^pasted-\d+\.txt$/.test(name)).length + 1;
  return [new File([text], `pasted-${number}.txt`, { type: "text/plain" })];
}

/** The buttons to send and to stop. While an answer runs, the user can send the next message: it waits. */
function SendButtons({
  draft,
  isStreaming,
  isCancelling,
  isOffline,
  onStop,
}: ComposerProps & { readonly draft: Draft }) {
  const messages = useMessages();
  return (
    <div class="send-buttons">
      {isStreaming ? (
        <button type="button" class="send-button stop" disabled={isCancelling} onClick={onStop}>
          <Icon name="stop" />
          <span>{isCancelling ? messages.stopping : messages.stop}</span>
        </button>
      ) : undefined}
      {isStreaming && !isSendable(draft) ? undefined : (
        <button type="submit" class="send-button" disabled={isOffline || !isSendable(draft)}>
          <Icon name="send" />
          <span>{draft.isWaiting ? messages.sendingFiles : messages.send}</span>
        </button>
      )}
    </div>
  );
}

type ModelChoiceProps = Pick<ComposerProps, "models" | "onConfigure"> & Pick<ConversationSettings, "model">;

function ModelChoice({ models, model, onConfigure }: ModelChoiceProps) {
  const messages = useMessages();
  const names = Object.fromEntries(models.map(({ id, name }) => [id, name ?? id]));
  const isOffered = model === undefined || Object.hasOwn(names, model);
  // A choice needs two models, or a conversation whose model is missing.
  if (models.length < 2 && isOffered) return undefined;
  const first = model === undefined && { "": messages.defaultModel };
  const gone = !isOffered && { [model]: messages.modelGone({ model }) };
  return (
    <Choice
      label={messages.model}
      value={model ?? ""}
      options={{ ...first, ...gone, ...names }}
      onChange={(chosen) => onConfigure({ model: chosen === "" ? undefined : chosen })}
    />
  );
}

/** A text field as high as its text, up to a limit in the style sheet. */
function useGrowingField(text: string) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const { current } = field;
    if (current === null) return;
    current.style.height = "auto";
    current.style.height = `${current.scrollHeight}px`;
  }, [text]);
  return field;
}
