import { Component, type VNode } from "preact";

interface KeptProps<Item> {
  readonly item: Item;
  /** Version of everything drawn apart from the item itself. */
  readonly version?: unknown;
  readonly render: (item: Item) => VNode;
}

/**
 * Draws an item once, and again only for another version. It's a component, because an element that is reused
 * refers to the first tree that contained it, with all texts of that moment.
 */
export class Kept<Item> extends Component<KeptProps<Item>> {
  override shouldComponentUpdate({ item, version }: KeptProps<Item>): boolean {
    return item !== this.props.item || version !== this.props.version;
  }

  override render({ item, render }: KeptProps<Item>): VNode {
    return render(item);
  }
}
