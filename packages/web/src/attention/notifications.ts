/** Notifications of the system. They say what happened, and nothing of what was said. */

export type NotificationPermissionState = "unsupported" | NotificationPermission;

export function readNotificationPermission(): NotificationPermissionState {
  return "Notification" in globalThis && isSecureContext ? Notification.permission : "unsupported";
}

/** Asks, so only for a click of the user. */
export async function askNotificationPermission(): Promise<NotificationPermissionState> {
  return readNotificationPermission() === "unsupported" ? "unsupported" : Notification.requestPermission();
}

interface NotificationOrder {
  /** A newer one replaces what the system still shows of this conversation. */
  readonly conversationId: string;
  readonly title: string;
  readonly text: string;
  readonly onClick: () => void;
}

export interface Notifier {
  readonly show: (order: NotificationOrder) => void;
  /** Takes away what nobody needs any more. */
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
        // Browsers of phones have the name, but show none without a service worker; title and icon tell it.
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
