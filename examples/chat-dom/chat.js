import { createClient } from "@sheaf/client";
import { createConversation } from "@sheaf/client/chat";

const id = location.hash.slice(1) || undefined;
const chat = createConversation(createClient({ baseUrl: "" }), { id, onChange: (own) => location.replace(`#${own}`) });
const [log, asked, note, form] = document.querySelectorAll("main, section, [role=status], form");
const create = (tag, ...parts) => Object.assign(document.createElement(tag), { textContent: parts.join("\n") });
const elements = new WeakMap(); // What did not change is the same object, and keeps its element.
const draw = (value, make) => elements.get(value) ?? elements.set(value, make(value)).get(value);
const toDocument = ({ type, content, metadata }) => create("pre", `[${type}]`, content ?? JSON.stringify(metadata));
const toApproval = ({ approvalId, subject, options }) => {
  const panel = create("pre", JSON.stringify(subject, undefined, 2));
  const choose = (optionId) => () => void chat.decide(approvalId, { optionId });
  panel.append(
    ...options.map(({ id: option, label }) => Object.assign(create("button", label), { onclick: choose(option) })),
  );
  return panel;
};
chat.subscribe(() => {
  const { turns, approvals, isAnswering, connection, error } = chat.getSnapshot();
  const toTurn = ({ message, response }) => [
    create("h3", message),
    ...response.documents.map((each) => draw(each, toDocument)),
  ];
  log.replaceChildren(...turns.flatMap(toTurn));
  asked.replaceChildren(...approvals.map((each) => draw(each, toApproval)));
  note.textContent = error?.message ?? (isAnswering ? connection : "");
  form.stop.hidden = !isAnswering;
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const message = form.message.value;
  form.reset();
  const giveBack = () => (form.message.value ||= message);
  void chat.send({ message }).then((isSent) => isSent || giveBack());
});
form.stop.addEventListener("click", () => void chat.cancel());
void chat.load();
