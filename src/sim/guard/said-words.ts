import { objectOf, textOf } from "../../kube/client/json-fields.ts";
import type { Decision } from "../../guard/decision/decision.ts";
import type { AcceptedWrite } from "./api-server.ts";

/** A person's word as the server took it in. */
interface SaidWord {
  readonly name: string;
  readonly decisionUid: string;
  readonly planHash: string;
  readonly verdict: string;
  readonly bornMs: number;
  goneMs: number | undefined;
}

/** Which words a guard must have heard before a change. */
interface Hearing {
  /** Words from before could be forged, as their policy was away: the guard says so, and waits for new ones. */
  readonly fromMs: number;
  readonly untilMs: number;
  /** When the change was sent. */
  readonly sentMs: number;
}

/** What people have said, and when it could be heard. */
export class SaidWords {
  readonly #words: SaidWord[] = [];

  see(nowMs: number, { resource, operation, after, key }: AcceptedWrite): void {
    if (resource !== "decisionapprovals") return;
    const name = key.slice(key.indexOf("/") + 1);
    const spec = objectOf(after?.["spec"]);
    if (operation === "CREATE")
      this.#words.push({
        name,
        decisionUid: textOf(spec["decisionUID"]),
        planHash: textOf(spec["planHash"]),
        verdict: textOf(spec["verdict"]),
        bornMs: nowMs,
        goneMs: undefined,
      });
    if (operation === "DELETE") for (const word of this.#words) if (word.name === name) word.goneMs ??= nowMs;
  }

  /**
   * Why a change for this Decision must not have been sent, by what was said; undefined when it may. A word that was taken
   * back before `sentMs` may have come and gone unheard. A guard that has heard it has written that down.
   */
  problem({ metadata, spec, status }: Decision, { fromMs, untilMs, sentMs }: Hearing): string | undefined {
    const ours = this.#words.filter(({ decisionUid }) => decisionUid === metadata.uid);
    const heard = ours.filter(
      ({ bornMs, goneMs = Infinity }) => bornMs >= fromMs && bornMs < untilMs && goneMs > sentMs,
    );
    const hashes = new Set([spec.planHash, ...(spec.revisions ?? []).map(({ planHash }) => planHash)]);
    const rejection = heard.find(({ verdict, planHash }) => verdict === "Reject" && hashes.has(planHash));
    if (rejection !== undefined) return `${rejection.name} has rejected it`;
    const approval = ours.find(({ name }) => name === status?.approval?.name);
    if (approval === undefined) return "nobody has approved it";
    if (approval.planHash !== spec.planHash) return `${approval.name} has approved another plan`;
    if ((approval.goneMs ?? Infinity) < untilMs) return `${approval.name} was withdrawn`;
    const pause = heard.findLast(({ verdict, planHash }) => verdict === "Pause" && hashes.has(planHash));
    const isResumed = ours.some(({ verdict, bornMs }) => verdict !== "Pause" && bornMs > (pause?.bornMs ?? 0));
    return pause === undefined || isResumed ? undefined : `${pause.name} has paused it`;
  }
}
