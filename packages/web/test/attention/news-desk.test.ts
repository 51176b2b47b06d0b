import { describe, expect, test } from "vitest";
import type { TabChannel } from "../../src/app/tab-channel.ts";
import type { News } from "../../src/attention/news.ts";
import { createNewsDesk, type DeskMessage, readDeskMessage } from "../../src/attention/news-desk.ts";

const news: News = { key: "resp_1 end", conversationId: "conv_1", kind: "ended" };

/** Tabs of one browser. Time passes when the test says so. */
function createBrowser() {
  const listeners = new Map<string, (message: DeskMessage) => void>();
  const told: string[] = [];
  const seen: string[] = [];
  let waiting: (() => void)[] = [];
  const openTab = (tabId: string, { shown = "", isWatched = false } = {}) => {
    const channel: TabChannel<DeskMessage> = {
      tell: (message) => listeners.forEach((hear, other) => (other === tabId ? undefined : hear(message))),
      listen(listener) {
        listeners.set(tabId, listener);
        return () => listeners.delete(tabId);
      },
    };
    return createNewsDesk({
      channel,
      tabId,
      isShown: (id) => id === shown,
      isWatched: () => isWatched,
      tell: ({ key }) => told.push(`${tabId}: ${key}`),
      onSeen: ({ conversationId }) => seen.push(`${tabId}: ${conversationId}`),
      wait: (_, then) => waiting.push(then),
    });
  };
  const letTimePass = (): void => {
    const due = waiting;
    waiting = [];
    for (const then of due) then();
  };
  return { openTab, letTimePass, told, seen };
}

describe("news in several tabs", () => {
  test("is told once, in the tab that shows the conversation", () => {
    const { openTab, letTimePass, told } = createBrowser();
    const desks = [openTab("a"), openTab("b", { shown: "conv_1" }), openTab("c")];
    for (const desk of desks) expect(desk.report(news)).toBe(false);
    for (const desk of desks) desk.report(news);
    letTimePass();
    expect(told).toEqual(["b: resp_1 end"]);
  });

  test("is told once where no tab shows the conversation, and not again in a tab that learns of it late", () => {
    const { openTab, letTimePass, told } = createBrowser();
    const [a, b, late] = [openTab("a"), openTab("b"), openTab("0")];
    b.report(news);
    a.report(news);
    letTimePass();
    expect(told).toEqual(["a: resp_1 end"]);
    late.report(news);
    openTab("00").report(news);
    letTimePass();
    expect(told).toEqual(["a: resp_1 end"]);
  });

  test("is announced again only after a thousand others", () => {
    const { openTab, letTimePass, told } = createBrowser();
    const desk = openTab("a");
    for (let index = 0; index < 1000; index += 1) desk.report({ ...news, key: `resp_${index} end` });
    letTimePass();
    desk.report({ ...news, key: "resp_0 end" });
    desk.report({ ...news, key: "resp_1000 end" });
    letTimePass();
    expect(told).toHaveLength(1001);
    desk.report({ ...news, key: "resp_0 end" });
    letTimePass();
    expect(told).toHaveLength(1002);
  });

  test("is not told while somebody looks at the page", () => {
    const { openTab, letTimePass, told, seen } = createBrowser();
    const hidden = openTab("a");
    const watched = openTab("b", { isWatched: true });
    hidden.report(news);
    expect(watched.report(news)).toBe(false);
    letTimePass();
    expect([told, seen]).toEqual([[], []]);
  });

  test("is seen everywhere once somebody looks at its conversation", () => {
    const { openTab, letTimePass, told, seen } = createBrowser();
    const [early, late] = [openTab("a"), openTab("c")];
    const watched = openTab("b", { shown: "conv_1", isWatched: true });
    early.report(news);
    expect(watched.report(news)).toBe(true);
    expect(late.report(news)).toBe(true);
    letTimePass();
    expect(told).toEqual([]);
    expect(seen).toEqual(["a: conv_1"]);
  });

  test.each([undefined, null, 7, "told", {}, { type: "told" }, { type: "offer", key: "k" }, { type: "x", key: "k" }])(
    "%j from another tab is no message",
    (data) => {
      expect(readDeskMessage(data)).toBeUndefined();
    },
  );
});
