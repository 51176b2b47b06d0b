/** A page that shows the documents of an answer while they come. The styles are yours. */
import { createClient, createResponseStore } from "@sheaf/client";

// The page's own server hands requests on, with the token: see serve.ts. A token does not belong in a page.
const client = createClient({ baseUrl: "" });
const list = document.querySelector("main");
const line = document.querySelector("[role=status]");
let conversationId;

document.querySelector("form").addEventListener("submit", (submit) => {
  submit.preventDefault();
  const message = new FormData(submit.currentTarget).get("message");
  const store = createResponseStore(client.chat({ message, conversationId }));
  const shown = new Map();
  store.subscribe(() => {
    const { response, status, error } = store.getSnapshot();
    conversationId = response.conversationId;
    line.textContent = error?.message ?? status;
    for (const each of response.documents) {
      const known = shown.get(each.id);
      // What did not change is the same object.
      if (known?.document === each) continue;
      const element = known?.element ?? list.appendChild(document.createElement("article"));
      shown.set(each.id, { element, document: each });
      show(element, each);
    }
  });
});

/** `textContent` never runs what a model wrote. */
function show(element, { type, content, metadata, status }) {
  const heading = document.createElement("h2");
  heading.textContent = status === "in_progress" ? `${type} …` : type;
  const body = document.createElement("div");
  body.textContent = content ?? JSON.stringify(metadata, null, 2);
  element.replaceChildren(heading, body);
}
