/** Notices that the conversations of an owner may look different, for clients that show a list (C230). */
import { createHash } from "node:crypto";
import type { RunEvent } from "@sheaf/protocol";
import { localOwner, type SharedStore } from "./store.ts";

/** A way for notices to reach their watchers. */
interface Notices {
  announce(name: string): void;
  watch(name: string, onChange: () => void): () => void;
}

/** Creates notices within this process. */
export function createLocalNotices(): Notices {
  const watchers = new Map<string, Set<() => void>>();
  return {
    announce(name) {
      for (const watcher of watchers.get(name) ?? []) watcher();
    },
    watch(name, onChange) {
      const ofName = watchers.get(name) ?? new Set();
      watchers.set(name, ofName.add(onChange));
      return () => {
        ofName.delete(onChange);
        if (ofName.size === 0 && watchers.get(name) === ofName) watchers.delete(name);
      };
    },
  };
}

const listEvents: ReadonlySet<string> = new Set<RunEvent["type"]>([
  "run_start",
  "approval_request",
  "approval_resolved",
  "run_end",
]);

function changesList(logged: RunEvent): boolean {
  return listEvents.has((logged.type === "agent_event" ? logged.event : logged).type);
}

/** Wraps a store, which then announces its changes to every process that shares the notices. */
export function announceLists<Kind extends SharedStore>(store: Kind, notices: Notices, owner = localOwner): Kind {
  const { waiting } = store;
  const name = `list:${createHash("sha256").update(owner).digest("base64url")}`;
  const announceAfter = async <Result>(change: Promise<Result>): Promise<Result> => {
    const result = await change;
    notices.announce(name);
    return result;
  };
  return {
    ...store,
    forOwner: (other) => announceLists(store.forOwner(other), notices, other),
    watchConversations: (onChange) => notices.watch(name, onChange),
    createResponse: (response) => announceAfter(store.createResponse(response)),
    appendEvents(responseId, events, durability) {
      const appending = store.appendEvents(responseId, events, durability);
      return events.some(changesList) ? announceAfter(appending) : appending;
    },
    addConversation: (conversation) => announceAfter(store.addConversation(conversation)),
    changeConversation: (id, patch) => announceAfter(store.changeConversation(id, patch)),
    deleteConversation: (id) => announceAfter(store.deleteConversation(id)),
    showBranch: (id, position) => announceAfter(store.showBranch(id, position)),
    waiting: {
      ...waiting,
      add: (message, maxWaiting) => announceAfter(waiting.add(message, maxWaiting)),
      remove: (responseId) => announceAfter(waiting.remove(responseId)),
      fail: (responseId, failure) => announceAfter(waiting.fail(responseId, failure)),
    },
  };
}
