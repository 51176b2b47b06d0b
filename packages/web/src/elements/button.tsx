import type { ButtonHTMLAttributes } from "preact";
import { Icon, type IconName } from "./icon.tsx";

interface ButtonProps extends Omit<ButtonHTMLAttributes, "icon" | "label"> {
  /** Look of the button. A tool shows only its icon; its label is for screen readers and the pointer's tooltip. */
  readonly kind?: "primary" | "quiet" | "danger" | "plain" | "fold" | "gap" | "tool";
  readonly icon?: IconName;
  readonly label: string;
}

export function Button({ kind = "tool", icon, label, class: more = "", ...attributes }: ButtonProps) {
  const isTool = kind === "tool";
  const named = isTool && { "aria-label": label, title: label };
  return (
    <button type="button" class={`${kind}-button ${more as string}`} {...named} {...attributes}>
      {icon && <Icon name={icon} />}
      {isTool ? undefined : label}
    </button>
  );
}
