import { useRef, useState } from "preact/hooks";
import { CodeText } from "../code/code-text.tsx";
import { Button } from "../elements/button.tsx";
import { Card } from "../elements/card.tsx";
import { CopyButton } from "../elements/copy-button.tsx";
import { Dialog } from "../elements/dialog.tsx";
import { useRemembered } from "../elements/remembered.ts";
import { useSetting } from "../elements/settings.tsx";
import { useIsNear } from "../elements/use-is-near.ts";
import { useMedia } from "../elements/use-media.ts";
import { VisibleText } from "../elements/visible-text.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { DiagramFrame, type DiagramSize } from "./diagram-frame.tsx";

/** Length of the longest drawn source in UTF-16 units; the page shows longer ones as code. */
const longestSource = 20_000;

/** True if the page draws code in this language. */
export function isDiagram(language: string, code: string): boolean {
  return language.toLowerCase() === "mermaid" && code.length <= longestSource && code.trim() !== "";
}

interface DiagramPanelProps {
  readonly source: string;
  /** Key under which the page remembers the choice between drawing and source. */
  readonly memoryKey: string;
}

/** The reason for a missing drawing; `text` is untrusted. */
interface Failure {
  readonly text: string | undefined;
}

/** A diagram, drawn from its source. The source is one click away, and stays visible if the drawing fails. */
export function DiagramPanel({ source, memoryKey }: DiagramPanelProps) {
  const messages = useMessages();
  const body = useRef<HTMLDivElement>(null);
  const isNear = useIsNear(body);
  const isDark = useIsDark();
  const key = `${memoryKey}/diagram/${source}`;
  const [size, setSize] = useRemembered<DiagramSize | undefined>(key, undefined);
  const [failure, setFailure] = useRemembered<Failure | undefined>(`${key}/failure`, undefined);
  const [isSourceShown, setSourceShown] = useRemembered(`${key}/source`, false);
  const [isLarge, setLarge] = useState(false);
  const hasSource = isSourceShown || failure !== undefined;
  return (
    <Card
      icon="image"
      title={messages.diagram}
      actions={
        <>
          {failure !== undefined ? undefined : (
            <button
              type="button"
              class="tool-button text-button"
              aria-pressed={isSourceShown}
              onClick={() => setSourceShown(!isSourceShown)}
            >
              {messages.showSource}
            </button>
          )}
          {hasSource || size === undefined ? undefined : (
            <Button icon="expand" label={messages.fullSize} onClick={() => setLarge(true)} />
          )}
          <CopyButton text={source} label={messages.copyCode} />
        </>
      }
    >
      <div ref={body}>
        {failure === undefined ? undefined : (
          <p class="card-note">
            {failure.text === undefined ? messages.diagramTooSlow : messages.diagramFailed}{" "}
            <VisibleText text={failure.text ?? ""} />
          </p>
        )}
        {hasSource ? (
          <CodeText code={source} language="mermaid" isOpen={false} label={messages.diagram} memoryKey={key} />
        ) : isNear ? (
          <DiagramFrame
            key={`${isDark}`}
            source={source}
            isDark={isDark}
            size={size}
            onDrawn={setSize}
            onFailed={(text) => setFailure({ text })}
          />
        ) : (
          <p class="diagram-note">{messages.drawing}</p>
        )}
      </div>
      {isLarge && size !== undefined ? (
        <Dialog title={messages.diagram} shape="wide" onClose={() => setLarge(false)}>
          <div class="large-view" tabIndex={0} role="region" aria-label={messages.diagram}>
            <DiagramFrame
              key={`${isDark}`}
              source={source}
              isDark={isDark}
              size={size}
              onDrawn={() => undefined}
              onFailed={() => setLarge(false)}
            />
          </div>
        </Dialog>
      ) : undefined}
    </Card>
  );
}

/** True if the page is dark, by the user's choice or the system's. */
function useIsDark(): boolean {
  const [theme] = useSetting("theme");
  const isSystemDark = useMedia("(prefers-color-scheme: dark)");
  return theme === "system" ? isSystemDark : theme === "dark";
}
