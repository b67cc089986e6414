import type { GateReason } from "../../../wire/gate-codes.ts";
import type { NodeFacts } from "../../facts/world.ts";
import type { GateFacts } from "../gate-facts.ts";

/** Why this node may not be rebooted now; empty when the rule has nothing against it. Pure. */
export type GateRule = (node: NodeFacts, facts: GateFacts) => readonly GateReason[];
