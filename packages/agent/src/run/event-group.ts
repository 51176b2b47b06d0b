/** What a run makes in one step: stored together, then delivered together. */
import type { RunEventBody } from "@sheaf/protocol";
import type { Durability } from "../store/store.ts";

export interface EventGroup {
  readonly events: readonly RunEventBody[];
  readonly durability: Durability;
}
