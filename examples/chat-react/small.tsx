import { createClient, type Document } from "@sheaf/client";
import { describeDocument, keepInAddress } from "@sheaf/client/chat";
import { useConversation, useDraft } from "@sheaf/client/react";
import { createRoot } from "react-dom/client";

const client = createClient({ baseUrl: "" });
const kept = keepInAddress();
const toText = (document: Document) => Object.values(describeDocument(document)).join("\n");

function Chat() {
  const chat = useConversation(client, kept);
  const { field, send } = useDraft(chat);
  const texts = chat.turns.flatMap(({ message, response }) => [message, ...response.documents.map(toText)]);
  const choices = chat.approvals.flatMap(({ approvalId, subject, options }) =>
    options.map(({ id, label }) => ({ approvalId, id, label: `${label}: ${JSON.stringify(subject)}` })),
  );
  const choose = (approvalId: string, optionId: string) => void chat.decide(approvalId, { optionId });
  return (
    <main>
      {texts.map((text, index) => (
        <pre key={index}>{text}</pre>
      ))}
      {choices.map(({ approvalId, id, label }) => (
        <button key={id} onClick={() => choose(approvalId, id)}>
          {label}
        </button>
      ))}
      <p role="status">{chat.error?.message ?? chat.connection}</p>
      <textarea aria-label="Message" {...field} />
      <button onClick={chat.isAnswering ? chat.cancel : send}>{chat.isAnswering ? "Stop" : "Send"}</button>
    </main>
  );
}
createRoot(document.getElementById("chat")!).render(<Chat />);
