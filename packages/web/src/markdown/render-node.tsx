/**
 * Renders a Markdown tree as elements. Only checked addresses and numbers from the text become attributes,
 * raw HTML appears as text, and images are links that are never loaded (S-60 to S-63).
 */
import type { Blockquote, FootnoteDefinition, ListItem, Nodes, Parents } from "mdast";
import type { ComponentChildren, VNode } from "preact";
import { CodePanel } from "../code/code-panel.tsx";
import { toVisibleCode } from "../elements/visible-text.tsx";
import { Formula } from "../math/formula.tsx";
import type { Messages } from "../messages/messages.ts";
import { useMessages } from "../messages/use-messages.ts";
import type { Definitions } from "./definitions.ts";
import { ImageLink, Link } from "./link.tsx";
import { TableView } from "./table-view.tsx";

/** Data that all elements of one text share. */
export interface MarkdownScope {
  readonly definitions: Definitions;
}

export function renderNode(node: Nodes, scope: MarkdownScope): ComponentChildren {
  switch (node.type) {
    case "text":
      return node.value;
    case "html":
      return <span class="raw-html">{node.value}</span>;
    case "inlineCode":
      return <code dir="auto">{toVisibleCode(node.value)}</code>;
    case "code":
      return <CodePanel code={node.value} language={node.lang ?? ""} />;
    case "formula":
      return <Formula source={node.value} isDisplay={node.isDisplay} />;
    case "break":
      return <br />;
    case "thematicBreak":
      return <hr />;
    case "image":
      return <ImageLink address={node.url} description={node.alt ?? ""} />;
    case "imageReference":
      return (
        <ImageLink address={scope.definitions.links.get(node.identifier)?.url ?? ""} description={node.alt ?? ""} />
      );
    case "footnoteReference":
      return <FootnoteMark identifier={node.identifier} scope={scope} />;
    case "definition":
    case "footnoteDefinition":
    case "yaml":
      return undefined;
    default:
      return renderParent(node, scope);
  }
}

function renderChildren(parent: Parents, scope: MarkdownScope): ComponentChildren[] {
  return parent.children.map((child) => renderNode(child, scope));
}

function renderParent(node: Parents, scope: MarkdownScope): ComponentChildren {
  if (node.type === "table") return <TableView table={node} renderCell={(cell) => renderChildren(cell, scope)} />;
  if (node.type === "listItem") return renderItem(node, scope);
  if (node.type === "blockquote") return renderQuote(node, scope);
  const children = renderChildren(node, scope);
  switch (node.type) {
    case "root":
      return children;
    case "paragraph":
      return <p dir="auto">{children}</p>;
    case "heading":
      return renderHeading(node.depth, children);
    case "emphasis":
      return <em>{children}</em>;
    case "strong":
      return <strong>{children}</strong>;
    case "delete":
      return <del>{children}</del>;
    case "list":
      return node.ordered ? <ol start={node.start ?? 1}>{children}</ol> : <ul>{children}</ul>;
    case "link":
      return <Link address={node.url}>{children}</Link>;
    case "linkReference":
      return <Link address={scope.definitions.links.get(node.identifier)?.url ?? ""}>{children}</Link>;
    default:
      return children;
  }
}

/** Matches a first line such as `[!NOTE]`, which makes an alert of a quote, as at GitHub. */
const alertMark = /^\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\][ \t]*(?:\n|$)/;

function renderQuote(quote: Blockquote, scope: MarkdownScope): VNode {
  const [first, ...rest] = quote.children;
  const [lead, ...others] = first?.type === "paragraph" ? first.children : [];
  const mark = lead?.type === "text" ? alertMark.exec(lead.value) : null;
  if (first?.type !== "paragraph" || lead?.type !== "text" || mark === null) {
    return <blockquote dir="auto">{renderChildren(quote, scope)}</blockquote>;
  }
  const kind = mark[1] as keyof Messages["alerts"];
  const text = { ...lead, value: lead.value.slice(mark[0].length) };
  const children = [{ ...first, children: [text, ...others] }, ...rest];
  return (
    <blockquote dir="auto" class={`alert alert-${kind.toLowerCase()}`}>
      <AlertTitle kind={kind} />
      {renderChildren({ ...quote, children }, scope)}
    </blockquote>
  );
}

function AlertTitle({ kind }: { readonly kind: keyof Messages["alerts"] }) {
  return <p class="alert-title">{useMessages().alerts[kind]}</p>;
}

/** Renders a heading two levels lower, since the page's own headings use the first two levels. */
function renderHeading(depth: number, children: ComponentChildren): VNode {
  const Heading = `h${Math.min(depth + 2, 6)}` as "h3" | "h4" | "h5" | "h6";
  return (
    <Heading class={`heading-${depth}`} dir="auto">
      {children}
    </Heading>
  );
}

function renderItem(item: ListItem, scope: MarkdownScope): VNode {
  // A tight item's paragraph has no element.
  const children = item.children.map((child) =>
    child.type === "paragraph" && !item.spread ? renderChildren(child, scope) : renderNode(child, scope),
  );
  if (typeof item.checked !== "boolean") return <li dir="auto">{children}</li>;
  return (
    <li dir="auto" class="task-item">
      <input type="checkbox" checked={item.checked} disabled aria-label={item.checked ? "☑" : "☐"} />
      {children}
    </li>
  );
}

/** Renders the footnotes that the text mentions, at its end. */
export function renderFootnotes(scope: MarkdownScope): ComponentChildren {
  return <Footnotes scope={scope} renderNote={(note) => renderChildren(note, scope)} />;
}

/** The number of a footnote at its mention, not an anchor: untrusted text must not set the page's ids or addresses. */
function FootnoteMark({ identifier, scope }: { readonly identifier: string; readonly scope: MarkdownScope }) {
  const number = [...scope.definitions.footnotes.keys()].indexOf(identifier) + 1;
  return <sup class="footnote-mark">[{number === 0 ? "?" : number}]</sup>;
}

interface FootnotesProps {
  readonly scope: MarkdownScope;
  readonly renderNote: (note: FootnoteDefinition) => ComponentChildren;
}

function Footnotes({ scope, renderNote }: FootnotesProps) {
  const messages = useMessages();
  const { footnotes } = scope.definitions;
  if (footnotes.size === 0) return undefined;
  return (
    <section class="footnotes" aria-label={messages.footnotes}>
      <ol>
        {[...footnotes.values()].map((note) => (
          <li>{renderNote(note)}</li>
        ))}
      </ol>
    </section>
  );
}
