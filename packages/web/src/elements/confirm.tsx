import { createContext, type ComponentChildren } from "preact";
import { useContext, useState } from "preact/hooks";
import { useMessages } from "../messages/use-messages.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

/** A question before an action that the user can't undo or that leaves the page. */
export interface Question {
  readonly title: string;
  readonly text: ComponentChildren;
  /** Label of the button that starts the action. */
  readonly confirm: string;
  readonly isDangerous?: boolean;
  /** An alternative way to continue. */
  readonly other?: { readonly label: string; readonly onChoose: () => void };
  readonly onConfirm: () => void;
}

const Ask = createContext<(question: Question) => void>(() => undefined);

export function useConfirm(): (question: Question) => void {
  return useContext(Ask);
}

/** Shows one question at a time. */
export function ConfirmProvider({ children }: { readonly children: ComponentChildren }) {
  const messages = useMessages();
  const [question, setQuestion] = useState<Question>();
  const close = (): void => setQuestion(undefined);
  const choose = (act: () => void): void => {
    close();
    act();
  };
  const other = question?.other;
  return (
    <Ask.Provider value={setQuestion}>
      {children}
      {question === undefined ? undefined : (
        <Dialog
          title={question.title}
          onClose={close}
          others={
            <>
              <Button kind="quiet" label={messages.cancel} onClick={close} />
              {other && <Button kind="quiet" label={other.label} onClick={() => choose(other.onChoose)} />}
            </>
          }
          action={
            <Button
              kind={question.isDangerous === true ? "danger" : "primary"}
              label={question.confirm}
              onClick={() => choose(question.onConfirm)}
            />
          }
        >
          <div class="dialog-text">{question.text}</div>
        </Dialog>
      )}
    </Ask.Provider>
  );
}
