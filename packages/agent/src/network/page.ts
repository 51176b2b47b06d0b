/** The port to the web. */
import type { ToolError } from "@sheaf/protocol";

/** What an address gave. */
interface WebPage {
  /** Where it came from, redirects followed. */
  readonly url: string;
  /** Markdown of a page, else the text as it came. Bounded. */
  readonly text: string;
  /** Bytes that came, at most the limit. */
  readonly bytes: number;
  /** The page is longer. */
  readonly isCut: boolean;
}

export type PageResult =
  | { readonly ok: true; readonly page: WebPage }
  /** INVALID_URL, ADDRESS_REFUSED, REDIRECTED, HTTP_ERROR, NOT_TEXT, NETWORK, TIMEOUT. */
  | { readonly ok: false; readonly error: ToolError };

/** Fetches pages of public hosts. */
export interface PageFetcher {
  fetchPage(url: string, signal: AbortSignal): Promise<PageResult>;
}
