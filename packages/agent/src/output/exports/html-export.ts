/** A conversation as one HTML file that loads nothing and runs nothing. */
import { toResponse } from "@sheaf/documents";
import { toVisibleText } from "../visible-text.ts";
import type { ConversationExport } from "./conversation-export.ts";
import { toDocumentSection, type SectionPart, toPrompt } from "./document-sections.ts";

const style = `:root{color-scheme:light dark;--line:#8884;--quiet:#767676}
body{font:16px/1.6 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1rem;color:var(--quiet);margin-top:2.5rem}h3{font-size:.95rem;margin-bottom:.25rem}
.prompt{border-left:3px solid var(--line);padding-left:1rem}
p,.prompt{white-space:pre-wrap;overflow-wrap:anywhere}
pre{font:13px/1.5 ui-monospace,monospace;border:1px solid var(--line);border-radius:6px;padding:.75rem;overflow:auto}`;

/** Everything from the conversation is text: none of it can become markup. */
export function formatHtmlExport({ conversation, responses }: ConversationExport): string {
  const title = escapeHtml(conversation.title);
  const body = responses.map(({ events }) => {
    const sections = toResponse(events).documents.map((document) => {
      const { heading, parts } = toDocumentSection(document);
      const head = heading === "" ? "" : `<h3>${escapeHtml(heading)}</h3>\n`;
      return `<section class="${document.type}">\n${head}${parts.map(formatPart).join("")}</section>\n`;
    });
    return `<h2>Prompt</h2>\n<div class="prompt">${escapeHtml(toPrompt(events))}</div>\n<h2>Answer</h2>\n${sections.join("")}`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<h1>${title}</h1>
${body.join("")}</body>
</html>
`;
}

function formatPart({ kind, text }: SectionPart): string {
  if (text === "") return "";
  return kind === "prose" ? `<p>${escapeHtml(text)}</p>\n` : `<pre>${escapeHtml(text)}</pre>\n`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return toVisibleText(text).replaceAll(/[&<>"']/g, (character) => entities[character]!);
}
