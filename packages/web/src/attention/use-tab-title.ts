import { useEffect } from "preact/hooks";
import { toVisibleText } from "../elements/hidden-characters.ts";

/** Sets title and icon of the tab: the title of the page, and the number of conversations with news. */
export function useTabTitle(title: string, news: number): void {
  useEffect(() => {
    const visible = toVisibleText(title);
    document.title = `${news > 0 ? `(${news}) ` : ""}${visible === "" ? "" : `${visible} – `}Sheaf`;
    const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    const address = news > 0 ? "/icon-news.svg" : "/icon.svg";
    if (icon !== null && icon.getAttribute("href") !== address) icon.href = address;
  }, [title, news]);
}
