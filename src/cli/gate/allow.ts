import { sha256Hex } from "../../base/sha256.ts";
import { parseRebootOverride, type RebootOverride } from "../../guard/gate/reboot-override.ts";
import { timeText } from "../../guard/json-values.ts";
import { whoAmI } from "../decisions/decision-source.ts";
import { typeLine } from "../decisions/type-line.ts";
import { CommandFailure, exitCode } from "../failure.ts";
import type { Shell } from "../shell.ts";
import type { GateView } from "./gate-view.ts";
import type { GatePlace } from "./gate-place.ts";
import { postWord } from "./post-word.ts";

/** Which reasons a person has read. Others, or more, need to be read again. */
export async function reasonsHash({ node, reasons }: GateView): Promise<string> {
  const lines = reasons.map(({ code, object }) => `${code} ${object}`).toSorted();
  return `sha256:${await sha256Hex([node, ...lines].join("\n"))}`;
}

/** Asks for the person's consent to a reboot in spite of exactly these reasons, or throws with exit status 4. */
export async function requireReading(shell: Shell, gate: GateView, given: string | undefined): Promise<void> {
  const hash = await reasonsHash(gate);
  const refuse = (why: string, remedy: string): CommandFailure =>
    new CommandFailure("approval-required", `Cannot allow a reboot of ${gate.node}: ${why}`, {
      remedy,
      exitCode: exitCode.wordMissing,
    });
  if (given !== undefined) {
    if (given === hash) return;
    throw refuse(`its reasons are ${hash}, not ${given}`, `levee gate why ${gate.node}, then repeat with its hash`);
  }
  const typed = await typeLine(shell, `Type the node's name to allow its reboot in spite of ${reasonCount(gate)}: `);
  if (typed === undefined)
    throw refuse("there is no terminal to confirm it", `levee gate allow ${gate.node} … --reasons-hash ${hash}`);
  if (typed.trim() !== gate.node) throw refuse(`${JSON.stringify(typed)} is not its name`, "");
}

interface AllowWords {
  readonly node: string;
  readonly reason: string;
  readonly untilMs: number;
}

/** A person's word, as a DecisionApproval in their name. The guard opens the gate at its next look. */
export async function createOverride(place: GatePlace, { node, reason, untilMs }: AllowWords): Promise<RebootOverride> {
  const by = await whoAmI(place);
  const text = await postWord(place, {
    kind: "DecisionApproval",
    namePrefix: "allow-reboot-",
    spec: { verdict: "Allow", gate: { node, until: timeText(untilMs) }, reason, by: { username: by } },
  });
  const made = parseRebootOverride(JSON.parse(text));
  if (made === undefined) throw new Error("The API server created the approval but did not return it");
  return made;
}

function reasonCount({ reasons }: GateView): string {
  return reasons.length === 1 ? "this reason" : `these ${reasons.length} reasons`;
}
