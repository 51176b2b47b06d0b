/** What the client does in a browser: one stream through many broken connections, and a component that shows it. */
import { createClient, createResponseStore } from "@sheaf/client";
import { useDraft, useStore } from "@sheaf/client/react";
import type { StreamEvent } from "@sheaf/protocol";
import * as compat from "preact/compat";
import { createStreamServer } from "../../packages/client/test/stream-server.ts";

const noWait = { delayMs: 0, maxDelayMs: 0 };

/** Reads the events with a cut at each of these bytes; gives the response of each reading as JSON. */
export async function readWithCuts(events: readonly StreamEvent[], cuts: readonly number[]): Promise<string[]> {
  const responses: string[] = [];
  for (const cutAt of cuts) {
    const behindCut = cutAt % 2 === 0 ? "end" : "break";
    const server = createStreamServer({ events, faults: [{ cutAt, behindCut }], chunkSize: 64 });
    const client = createClient({ baseUrl: "http://sheaf.test", fetch: server.fetch, reconnect: noWait });
    responses.push(JSON.stringify(await client.chat({ message: "Hello" }).readToEnd()));
  }
  return responses;
}

/** Shows the documents with the hook, in the real loop of the framework; gives the text at the end. */
export async function showWithHook(events: readonly StreamEvent[]): Promise<string> {
  const server = createStreamServer({ events, faults: [{ cutAt: 900 }], chunkSize: 64, isPaced: true });
  const client = createClient({ baseUrl: "http://sheaf.test", fetch: server.fetch, reconnect: noWait });
  const store = createResponseStore(client.chat({ message: "Hello" }));
  let renders = 0;
  const View = (): compat.JSX.Element => {
    const { response, status } = useStore(store);
    renders += 1;
    return compat.createElement("p", null, `${status}: ${response.documents.map(({ type }) => type).join(" ")}`);
  };
  const place = document.createElement("div");
  compat.render(compat.createElement(View, null), place);
  await new Promise<void>((resolve) => {
    store.subscribe(() => store.getSnapshot().status !== "reading" && setTimeout(resolve, 50));
  });
  return `${place.textContent}, ${renders > 1 && renders < events.length ? "once a change" : `${renders} renders`}`;
}

/** Writes in one conversation, goes to another and back; gives the text of the field at each. A message is refused. */
export async function switchDrafts(): Promise<string[]> {
  const refuse = (): Promise<boolean> => Promise.resolve(false);
  const conversations = ["one", "two"].map((id) => ({ id, send: refuse.bind(undefined) }));
  const place = document.createElement("div");
  let send = (): void => undefined;
  const View = ({ at }: { readonly at: number }): compat.JSX.Element => {
    const draft = useDraft(conversations[at]!);
    send = draft.send;
    const onInput = (event: { readonly currentTarget: HTMLInputElement }) => draft.field.onChange(event);
    return compat.createElement("input", { value: draft.field.value, onInput });
  };
  const texts: string[] = [];
  const show = async (at: number): Promise<HTMLInputElement> => {
    compat.render(compat.createElement(View, { at }), place);
    await new Promise((resolve) => setTimeout(resolve, 50));
    texts.push(place.querySelector("input")!.value);
    return place.querySelector("input")!;
  };
  const field = await show(0);
  field.value = "first";
  field.dispatchEvent(new Event("input"));
  await show(0);
  await show(1);
  await show(0);
  send();
  await show(1);
  await show(0);
  return texts;
}
