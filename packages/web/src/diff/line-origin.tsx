import type { BlamedRange } from "@sheaf/protocol";
import { formatMoment } from "../elements/format.ts";
import { VisibleText } from "../elements/visible-text.tsx";
import { useMessages } from "../messages/use-messages.ts";

/** The call that wrote a line, with its message, or the commit. `id`: the visible conversation. */
export function LineOrigin({ range: { call, commit }, id }: { readonly range: BlamedRange; readonly id: string }) {
  const messages = useMessages();
  const toTime = (time: string): string => formatMoment(time, messages.locale, Date.now());
  const facts = call
    ? [`${call.tool}${call.certain ? "" : " (?)"}`, call.prompt.slice(0, 300), call.model, toTime(call.time)]
    : commit
      ? [commit.author, commit.id.slice(0, 10), toTime(commit.time)]
      : [messages.noCallWroteLine];
  return (
    <>
      <VisibleText text={facts.join(" · ")} />{" "}
      {call && call.conversationId !== id ? (
        <a href={`#/${call.conversationId}`}>{messages.conversation}</a>
      ) : undefined}
    </>
  );
}
