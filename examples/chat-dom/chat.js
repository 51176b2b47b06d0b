import { createClient } from "@sheaf/client";
import { createConversation, describeDocument, keepInAddress } from "@sheaf/client/chat";

const chat = createConversation(createClient({ baseUrl: "" }), keepInAddress());
const [log, asked, note, form] = document.querySelectorAll("main, section, [role=status], form");
const create = (tag, textContent, onclick = null) =>
  Object.assign(document.createElement(tag), { textContent, onclick });
const elements = new WeakMap(); // What did not change is the same object, and keeps its element.
const draw = (value, make) => elements.get(value) ?? elements.set(value, make(value)).get(value);
const toDocument = (value) => create("pre", Object.values(describeDocument(value)).join("\n"));
const toTurn = ({ message, response }) => [
  create("h3", message),
  ...response.documents.map((each) => draw(each, toDocument)),
];
const toApproval = ({ approvalId, subject, options }) => {
  const panel = create("pre", JSON.stringify(subject, undefined, 2));
  const choose = (optionId) => () => void chat.decide(approvalId, { optionId });
  panel.append(...options.map(({ id, label }) => create("button", label, choose(id))));
  return panel;
};
chat.subscribe(() => {
  const { turns, approvals, isAnswering, connection, error } = chat.getSnapshot();
  log.replaceChildren(...turns.flatMap(toTurn));
  asked.replaceChildren(...approvals.map((each) => draw(each, toApproval)));
  note.textContent = error?.message ?? (isAnswering ? connection : "");
  form.stop.hidden = !isAnswering;
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const { value: message } = form.message;
  form.reset();
  const giveBack = (isSent) => isSent || (form.message.value ||= message);
  void chat.send({ message }).then(giveBack);
});
form.stop.addEventListener("click", chat.cancel);
void chat.load();
