import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";

interface LineCardProps {
  readonly kind?: string;
  readonly icon?: IconName;
  readonly title?: ComponentChildren;
  readonly detail: ComponentChildren;
  readonly facts?: ComponentChildren;
  readonly isUnfolded: boolean;
  readonly onToggle: (isUnfolded: boolean) => void;
  /** Content below the folded line. */
  readonly now?: ComponentChildren;
  /** Content below the unfolded line. */
  readonly children: ComponentChildren;
}

/** A document as one line that unfolds. */
export function LineCard(props: LineCardProps) {
  const { kind = "", icon, title, detail, facts, isUnfolded, onToggle, now, children } = props;
  return (
    <div class={`line-card ${kind}`}>
      <button type="button" class="line-head" aria-expanded={isUnfolded} onClick={() => onToggle(!isUnfolded)}>
        <span class="chevron">
          <Icon name="chevron" />
        </span>
        {icon && <Icon name={icon} />}
        {title && <span class="line-title">{title}</span>}
        <span class="line-detail" dir="auto">
          {detail}
        </span>
        {facts && <span class="line-facts">{facts}</span>}
      </button>
      {isUnfolded ? <div class="line-body">{children}</div> : now}
    </div>
  );
}
