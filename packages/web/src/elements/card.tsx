import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";

interface CardProps {
  readonly icon: IconName;
  readonly title: ComponentChildren;
  /** Short facts after the title. */
  readonly facts?: ComponentChildren;
  /** Buttons at the end of the head. */
  readonly actions?: ComponentChildren;
  readonly kind?: string;
  readonly children?: ComponentChildren;
}

/** A document with a head and a body. */
export function Card({ icon, title, facts, actions, kind = "", children }: CardProps) {
  return (
    <div class={`card ${kind}`}>
      <div class="card-head">
        <Icon name={icon} />
        <div class="card-title">{title}</div>
        {facts === undefined ? undefined : <div class="card-facts">{facts}</div>}
        {actions === undefined ? undefined : <div class="card-actions">{actions}</div>}
      </div>
      {children === undefined ? undefined : <div class="card-body">{children}</div>}
    </div>
  );
}

type Tone = "neutral" | "good" | "warning" | "bad" | "active";

export function Badge({ tone = "neutral", children }: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge badge-${tone}`}>{children}</span>;
}
