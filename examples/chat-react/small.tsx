import { createClient } from "@sheaf/client";
import { useConversation } from "@sheaf/client/react";
import { useState } from "react";
import { createRoot } from "react-dom/client";

const client = createClient({ baseUrl: "" });
const openedId = location.hash.slice(1) || undefined;

function Chat() {
  const chat = useConversation(client, { id: openedId, onChange: (id) => location.replace(`#${id}`) });
  const [text, setText] = useState("");
  const send = async () => {
    setText("");
    if (!(await chat.send({ message: text }))) setText(text); // It was not sent.
  };
  const documents = chat.turns.flatMap(({ message, response }) => [{ content: message }, ...response.documents]);
  const choices = chat.approvals.flatMap(({ approvalId, subject, options }) =>
    options.map(({ id, label }) => ({ approvalId, id, label: `${label}: ${JSON.stringify(subject)}` })),
  );
  const choose = (approvalId: string, optionId: string) => void chat.decide(approvalId, { optionId });
  return (
    <main>
      {documents.map((each, index) => (
        <pre key={index}>{each.content ?? JSON.stringify(each)}</pre>
      ))}
      {choices.map(({ approvalId, id, label }) => (
        <button key={id} onClick={() => choose(approvalId, id)}>
          {label}
        </button>
      ))}
      <p role="status">{chat.error?.message ?? chat.connection}</p>
      <textarea aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
      <button onClick={() => void (chat.isAnswering ? chat.cancel() : send())}>
        {chat.isAnswering ? "Stop" : "Send"}
      </button>
    </main>
  );
}
createRoot(document.getElementById("chat")!).render(<Chat />);
