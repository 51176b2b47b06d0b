/** The system's notifications. They show what kind of event happened, without any text of the conversation. */

export type NotificationPermissionState = "unsupported" | NotificationPermission;

export function readNotificationPermission(): NotificationPermissionState {
  return "Notification" in globalThis && isSecureContext ? Notification.permission : "unsupported";
}

/** Makes the browser ask the user; call it only after a click. */
export async function askNotificationPermission(): Promise<NotificationPermissionState> {
  return readNotificationPermission() === "unsupported" ? "unsupported" : Notification.requestPermission();
}

interface NotificationOrder {
  /** Id of the conversation: its newer notification replaces the visible one. */
  readonly conversationId: string;
  readonly title: string;
  readonly text: string;
  readonly onClick: () => void;
}

export interface Notifier {
  readonly show: (order: NotificationOrder) => void;
  /** Closes the notifications of all conversations that aren't wanted. */
  readonly keepOnly: (isWanted: (conversationId: string) => boolean) => void;
}

export function createNotifier(): Notifier {
  const shown = new Map<string, Notification>();
  return {
    show({ conversationId, title, text, onClick }) {
      try {
        const notification = new Notification(title, { body: text, tag: conversationId });
        shown.get(conversationId)?.close();
        shown.set(conversationId, notification);
        notification.addEventListener("click", () => {
          notification.close();
          onClick();
        });
      } catch {
        // Phone browsers have the class, but need a service worker; the tab's title and icon show the news instead.
      }
    },
    keepOnly(isWanted) {
      for (const [conversationId, notification] of shown) {
        if (isWanted(conversationId)) continue;
        notification.close();
        shown.delete(conversationId);
      }
    },
  };
}
