import { DiagramPanel, isDiagram } from "../diagram/diagram-panel.tsx";
import { Badge, Card } from "../elements/card.tsx";
import { CopyButton } from "../elements/copy-button.tsx";
import { Formula } from "../math/formula.tsx";
import { useMessages } from "../messages/use-messages.ts";
import { CodeText } from "./code-text.tsx";
import { toLanguageName } from "./languages.ts";

interface CodePanelProps {
  readonly code: string;
  /** First word of the fence, or "". */
  readonly language: string;
  readonly label?: string | undefined;
  readonly isOpen?: boolean;
  readonly note?: string | undefined;
  /** Key under which the page remembers that the user unfolded all lines. */
  readonly memoryKey?: string;
}

/** Code outside of any file. */
export function CodePanel({ code, language, label, isOpen = false, note, memoryKey = "" }: CodePanelProps) {
  const messages = useMessages();
  const name = toLanguageName(language);
  if (!isOpen && note === undefined && isDiagram(language, code)) {
    return <DiagramPanel source={code} memoryKey={memoryKey} />;
  }
  if (!isOpen && language.toLowerCase() === "math") return <Formula source={code} isDisplay />;
  return (
    <Card
      icon="code"
      title={name === "" ? messages.documentTypes.code_block : name}
      facts={
        <>
          {label === undefined ? undefined : <Badge>{label}</Badge>}
          {note === undefined || isOpen ? undefined : <Badge tone="warning">{note}</Badge>}
        </>
      }
      actions={<CopyButton text={code} label={messages.copyCode} />}
    >
      <CodeText
        code={code}
        language={language}
        isOpen={isOpen}
        label={name === "" ? messages.documentTypes.code_block : name}
        memoryKey={memoryKey}
      />
    </Card>
  );
}
