import { createClient, type Document } from "@sheaf/client";
import { describeDocument, keepInAddress } from "@sheaf/client/chat";
import { type UsedConversation, useConversation, useDraft } from "@sheaf/client/react";
import { memo, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./chat.css";

const client = createClient({ baseUrl: "" });
const kept = keepInAddress();

function Chat() {
  const chat = useConversation(client, kept);
  if (chat.status === "loading") return <p role="status">Loading …</p>;
  if (chat.status !== "ready") return <Notice text={chat.error?.message} label="Try again" act={chat.reconnect} />;
  const last = chat.turns.at(-1)?.response;
  return (
    <>
      <main aria-busy={chat.isAnswering}>
        {chat.turns.map(({ message, response }, index) => (
          <section key={index}>
            <p className="message">{message || "Answered"}</p>
            {response.documents.map((document) => (
              <DocumentView key={document.id} document={document} {...(response === last && { answer: chat.send })} />
            ))}
          </section>
        ))}
      </main>
      {chat.approvals.map(({ approvalId, subject, options }) => (
        <fieldset key={approvalId}>
          <legend>May this run?</legend>
          <pre>{JSON.stringify(subject, undefined, 2)}</pre>
          {options.map(({ id: optionId, label }) => (
            <Choice key={optionId} label={label} act={() => chat.decide(approvalId, { optionId })} />
          ))}
        </fieldset>
      ))}
      {chat.connection === "waiting" && <Notice text="Reconnecting …" label="Now" act={chat.reconnect} />}
      {chat.connection === "broken" && <Notice text="The answer broke off." label="Try again" act={chat.reconnect} />}
      {chat.waiting.map(({ responseId, message }) => (
        <Notice
          key={responseId}
          text={`After this answer: ${message}`}
          label="Take back"
          act={() => chat.unqueue(responseId)}
        />
      ))}
      {chat.error && chat.connection === "idle" && <p role="alert">{chat.error.message}</p>}
      <Composer chat={chat} />
    </>
  );
}

function Composer({ chat }: { chat: UsedConversation }) {
  const { field, isEmpty, send } = useDraft(chat);
  return (
    <footer>
      <textarea aria-label="Message" {...field} />
      <Choice label="Send" isDisabled={isEmpty} act={send} />
      {chat.isAnswering && <Choice label="Stop" isDisabled={chat.isCancelling} act={chat.cancel} />}
    </footer>
  );
}

/** One document. What did not change is the same object, so React skips it. Text is shown as text, never as HTML. */
const DocumentView = memo(({ document, answer }: { document: Document; answer?: UsedConversation["send"] }) => {
  const { type, metadata, id: documentId } = document;
  const { title, text } = describeDocument(document);
  if (type === "text") return <p className="text">{text}</p>;
  if (type === "error") return <p role="alert">{text}</p>;
  if (type !== "clarification") return <Box title={title} text={text} />;
  return metadata.questions.map(({ id: questionId, text: question, options }) => (
    <fieldset key={questionId} disabled={!answer}>
      <legend>{question}</legend>
      {options.map(({ id, label }) => (
        <Choice
          key={id}
          label={label}
          act={() => answer?.({ message: "", answers: [{ documentId, questionId, optionIds: [id], text: "" }] })}
        />
      ))}
    </fieldset>
  ));
});

function Box({ title, text }: { title: string; text: string }) {
  return (
    <details open>
      <summary>{title}</summary>
      <pre>{text}</pre>
    </details>
  );
}

function Notice({ text, label, act }: { text: string | undefined; label: string; act: () => unknown }) {
  return (
    <p role="status">
      {text} <Choice label={label} act={act} />
    </p>
  );
}

function Choice({ label, act, isDisabled = false }: { label: string; act: () => unknown; isDisabled?: boolean }) {
  return (
    <button disabled={isDisabled} onClick={() => void act()}>
      {label}
    </button>
  );
}

createRoot(document.getElementById("chat")!).render(
  <StrictMode>
    <Chat />
  </StrictMode>,
);
