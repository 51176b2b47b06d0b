import { Component, type VNode } from "preact";

interface KeptProps<Item> {
  readonly item: Item;
  /** What is drawn apart from the item itself. */
  readonly version?: unknown;
  readonly render: (item: Item) => VNode;
}

/**
 * Draws an item once, and again only for another version. A component, since an element that is given again and again
 * refers to the first tree it was in, with all texts of that moment.
 */
export class Kept<Item> extends Component<KeptProps<Item>> {
  override shouldComponentUpdate({ item, version }: KeptProps<Item>): boolean {
    return item !== this.props.item || version !== this.props.version;
  }

  override render({ item, render }: KeptProps<Item>): VNode {
    return render(item);
  }
}
