import { useEffect, useState } from "preact/hooks";
import { useMessages } from "../messages/use-messages.ts";
import { useAnnounce } from "./announcer.tsx";
import { Button } from "./button.tsx";
import type { IconName } from "./icon.tsx";

interface CopyButtonProps {
  readonly text: string;
  /** Name of the copied text, for screen readers. */
  readonly label: string;
  readonly icon?: IconName;
}

/** Milliseconds for which the button shows its success. */
const shownFor = 2000;

export function CopyButton({ text, label, icon = "copy" }: CopyButtonProps) {
  const messages = useMessages();
  const announce = useAnnounce();
  const [isDone, setDone] = useState(false);
  useEffect(() => {
    if (!isDone) return undefined;
    const timer = setTimeout(() => setDone(false), shownFor);
    return () => clearTimeout(timer);
  }, [isDone]);
  const copy = async (): Promise<void> => {
    const isCopied = await copyText(text);
    setDone(isCopied);
    announce(isCopied ? messages.copied : messages.copyFailed);
  };
  return <Button icon={isDone ? "check" : icon} label={label} onClick={() => void copy()} />;
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // The page came over plain HTTP from another machine, or the browser refused.
    return false;
  }
}
