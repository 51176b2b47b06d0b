import type { ConversationComparison, ConversationSummary } from "@sheaf/protocol";
import { useState } from "preact/hooks";
import { CodePanel } from "../code/code-panel.tsx";
import { Choice } from "../elements/choice.tsx";
import { Dialog } from "../elements/dialog.tsx";
import { formatCost, formatMoment, formatNumber } from "../elements/format.ts";
import { PathText } from "../elements/path-text.tsx";
import { useLoaded } from "../elements/use-loaded.ts";
import { useLanguage, useMessages } from "../messages/use-messages.ts";
import type { ChangesPorts } from "./changes-dialog.tsx";
import { Notice } from "./conversation-notices.tsx";

interface CompareDialogProps {
  readonly id: string;
  readonly title: string;
  readonly ports: Pick<ChangesPorts, "client" | "describe">;
  readonly onClose: () => void;
}

/** The place where this conversation and a chosen one part, with their models, tokens, cost and files (C271). */
export function CompareDialog({ id, title, ports: { client, describe }, onClose }: CompareDialogProps) {
  const messages = useMessages();
  const language = useLanguage();
  const [otherId, setOtherId] = useState("");
  const load = async <Value,>(request: () => Promise<Value>): Promise<Value | string> => {
    try {
      return await request();
    } catch (error) {
      return describe(error);
    }
  };
  const listed = useLoaded(() => load(() => client.listConversations({})), [id]);
  const loaded = useLoaded(
    async () =>
      otherId === "" ? undefined : { otherId, value: await load(() => client.compareConversations(id, otherId)) },
    [id, otherId],
  );
  const comparison = loaded?.otherId === otherId ? loaded.value : undefined;
  const failure = [listed, comparison].find((value) => typeof value === "string");
  const others = typeof listed === "object" ? listed.conversations.filter((other) => other.id !== id) : [];
  const titles = Object.fromEntries(others.map((other) => [other.id, other.title || messages.untitled]));
  // Conversations often have the same title.
  const toOption = (other: ConversationSummary) => [
    other.id,
    `${titles[other.id]} (${formatMoment(other.updated, language, Date.now())})`,
  ];
  return (
    <Dialog title={messages.compare} onClose={onClose} shape="wide">
      <div class="comparison">
        {failure === undefined ? undefined : <Notice text={failure} role="alert" />}
        <Choice
          label={messages.compareWith}
          value={otherId}
          options={{ "": messages.choose, ...Object.fromEntries(others.map(toOption)) }}
          onChange={setOtherId}
          isSetting
        />
        {typeof comparison === "object" ? (
          <Comparison comparison={comparison} titles={[title, titles[otherId] ?? ""]} />
        ) : (
          otherId !== "" && failure === undefined && <p class="stage-note">{messages.loading}</p>
        )}
      </div>
    </Dialog>
  );
}

interface ComparisonProps {
  readonly comparison: ConversationComparison;
  readonly titles: readonly [string, string];
}

function Comparison({ comparison: { conversations, parting, files }, titles }: ComparisonProps) {
  const messages = useMessages();
  const language = useLanguage();
  type Row = (typeof conversations)[number];
  const facts: readonly (readonly [string, (row: Row) => string])[] = [
    [messages.model, ({ model }) => model],
    [messages.messageCount, ({ responses }) => formatNumber(responses, language)],
    [messages.stepsLabel, ({ turns }) => formatNumber(turns, language)],
    [messages.tokensLabel, (row) => messages.tokens({ prompt: row.inputTokens, completion: row.outputTokens })],
    [messages.cost, ({ costUsd }) => (costUsd === undefined ? "–" : formatCost(costUsd, language))],
    [messages.files, (row) => formatNumber(row.files.length, language)],
  ];
  return (
    <>
      <table>
        <thead>
          <tr>
            <td />
            {titles.map((title, index) => (
              <th key={index} scope="col" dir="auto">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {facts.map(([name, toText]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {conversations.map((row, index) => (
                <td key={index}>{toText(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <h3>{parting ? messages.parting : messages.noParting}</h3>
      {parting ? (
        <p lang="en" dir="ltr">
          {parting.place}: {parting.message}
        </p>
      ) : undefined}
      {parting && parting.diff !== "" ? <CodePanel code={parting.diff} language="diff" /> : undefined}
      <h3>{files.length > 0 ? messages.filesDiffer : messages.filesSame}</h3>
      <ul>
        {files.map((path) => (
          <li key={path}>
            <PathText path={path} />
          </li>
        ))}
      </ul>
    </>
  );
}
