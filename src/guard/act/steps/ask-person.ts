import { askedUids, stuckOf } from "../../decide/cause-present.ts";
import type { AskedItem } from "../../decision/asked-item.ts";
import type { AskPersonStep } from "../../decision/step.ts";
import { askedObject } from "../../decide/causes/ask-step.ts";
import { stillHeld } from "../../detect/reserved-names.ts";
import { membersMin } from "../../detect/avalanche.ts";
import type { World } from "../../facts/world.ts";
import type { StepContext, StepRunner } from "../step-runner.ts";

/** As for the end of a cause. */
const stuckMax = membersMin / 2;
/** The CRD's limit for lines in a status. */
const linesMax = 50;
const namedMax = 4;

/** Shows a person the lines, and looks until the cluster shows that it is done. It writes nothing but its own status. */
export const askPersonRunner: StepRunner<AskPersonStep> = {
  async precondition() {
    return undefined;
  },

  async rehearse() {
    return undefined;
  },

  async perform({ askPerson }, context) {
    const open = openItems(askPerson, context);
    if (open.length === 0) return { message: "Nothing of it is left to do" };
    return {
      message: `A person has done ${askPerson.items.length === 1 ? "it" : `all ${askPerson.items.length}`}`,
      lines: [...new Set(open.map(({ line }) => line))].slice(0, linesMax),
    };
  },

  async check({ askPerson }, context) {
    const open = openItems(askPerson, context);
    if (open.length === 0) return undefined;
    const named = open
      .slice(0, namedMax)
      .map(({ object, node, what }) => `${object}${node === "" ? "" : ` on ${node}`}: ${what}`);
    const more = open.length > namedMax ? ` and ${open.length - namedMax} more` : "";
    return `${open.length} of ${askPerson.items.length} are left: ${named.join("; ")}${more}`;
  },
};

/** What still stands, by the newest facts. */
function openItems(
  { about, items }: AskPersonStep["askPerson"],
  { decision, world, settings }: StepContext,
): readonly AskedItem[] {
  const seen = world();
  switch (about) {
    case "Owner":
      return seen.owners !== undefined && stuckOf(decision, seen).length < stuckMax ? [] : items;
    case "SandboxNames":
      return heldItems(items, stillHeld(askedUids(decision), seen, settings));
    case "Reboots":
      return items.filter((item) => isStillBlocking(item, seen));
  }
}

/** A node without a gate was rebooted, and one that is allowed is no longer blocked. Nothing is known of an Unknown one. */
function isStillBlocking({ object, node, what }: AskedItem, { rebootGates }: World): boolean {
  if (rebootGates === undefined) return true;
  return rebootGates.some(
    (gate) =>
      (gate.verdict === "Unknown" && gate.node === node) ||
      (gate.verdict !== "Allow" &&
        gate.reasons.some((reason) => askedObject(reason.object) === object && what.startsWith(`${reason.code}:`))),
  );
}

function heldItems(items: readonly AskedItem[], held: ReadonlySet<string>): readonly AskedItem[] {
  return items.filter(({ uid }) => held.has(uid));
}
