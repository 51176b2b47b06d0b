import { type ApprovalAnswer, createClient, type Document } from "@sheaf/client";
import { type UsedConversation, useConversation } from "@sheaf/client/react";
import { memo, StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import "./chat.css";

const client = createClient({ baseUrl: "" });
const openedId = location.hash.slice(1) || undefined;

function Chat() {
  const chat = useConversation(client, { id: openedId, onChange: (id) => location.replace(`#${id}`) });
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
              <DocumentView key={document.id} document={document} answer={response === last ? chat.send : undefined} />
            ))}
          </section>
        ))}
      </main>
      {chat.approvals.map(({ approvalId, subject, options }) => (
        <fieldset key={approvalId}>
          <legend>May this run?</legend>
          <pre>{JSON.stringify(subject, undefined, 2)}</pre>
          {options.map(({ id: optionId, label }) => (
            <Choice
              key={optionId}
              label={label}
              act={() => chat.decide(approvalId, { optionId } satisfies ApprovalAnswer)}
            />
          ))}
        </fieldset>
      ))}
      {chat.connection === "waiting" && <Notice text="Reconnecting …" label="Now" act={chat.reconnect} />}
      {chat.connection === "broken" && <Notice text="The answer broke off." label="Try again" act={chat.reconnect} />}
      {chat.queued && (
        <Notice text={`After this answer: ${chat.queued.message}`} label="Take back" act={chat.unqueue} />
      )}
      {chat.error && chat.connection === "idle" && <p role="alert">{chat.error.message}</p>}
      <Composer chat={chat} />
    </>
  );
}

function Composer({ chat }: { chat: UsedConversation }) {
  const [text, setText] = useState("");
  const send = async () => {
    setText("");
    // A message that was not sent goes back into the field, unless something new is there.
    if (!(await chat.send({ message: text }))) setText((now) => now || text);
  };
  return (
    <footer>
      <textarea aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
      <Choice label="Send" isDisabled={text.trim() === ""} act={send} />
      {chat.isAnswering && <Choice label="Stop" isDisabled={chat.isCancelling} act={chat.cancel} />}
    </footer>
  );
}

/** One document. What did not change is the same object, so React skips it. Text is shown as text, never as HTML. */
const DocumentView = memo(
  ({ document, answer }: { document: Document; answer: UsedConversation["send"] | undefined }) => {
    const { type, content, metadata, id: documentId } = document;
    if (type === "text") return <p className="text">{content}</p>;
    if (type === "error") return <p role="alert">{content}</p>;
    if (type === "terminal_command") return <Box title={`$ ${metadata.command}`} text={metadata.output} />;
    if (type === "file_edit") return <Box title={metadata.filePath} text={metadata.patch ?? content} />;
    if (type === "code_reference") return <Box title={`${metadata.filePath}:${metadata.startLine}`} text={content} />;
    if (type === "code_block") return <Box title={metadata.language} text={content} />;
    if (type === "plan") return <Box title={metadata.title} text={content} />;
    if (type === "todo_update")
      return <Box title="Todos" text={metadata.todos.map((todo) => todo.content ?? todo.id).join("\n")} />;
    if (type !== "clarification") return <Box title={type} text={content ?? JSON.stringify(metadata, undefined, 2)} />;
    return metadata.questions.map(({ id: questionId, text, options }) => (
      <fieldset key={questionId} disabled={!answer}>
        <legend>{text}</legend>
        {options.map(({ id, label }) => (
          <Choice
            key={id}
            label={label}
            act={() => answer?.({ message: "", answers: [{ documentId, questionId, optionIds: [id], text: "" }] })}
          />
        ))}
      </fieldset>
    ));
  },
);

function Box({ title, text }: { title: string; text: string | null }) {
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
