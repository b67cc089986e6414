import type { Admission } from "../../admission/admission.ts";
import { describeBlocker, type Ruling, type WaitView } from "../../admission/rulings.ts";
import type { Subject } from "../../base/subject.ts";
import { nodeNetworks } from "../../admission/request.ts";
import type { Recorder } from "./recorder.ts";
import type { RulingFeed } from "./ruling-feed.ts";
import type { Timeline, TimelineFacts } from "./timeline.ts";

/** A shorter time does not count as a wait. */
const waitMsMin = 1;

/**
 * Notes rulings in the pod's timeline, except those that end a call (held, refused, expired, superseded, cancelled): the
 * call's error says the same in full.
 */
export function recordRulings(
  { rulings, timeline, recorder }: { rulings: RulingFeed; timeline: Timeline; recorder: Recorder },
  admission: Admission,
): void {
  rulings.listen((ruling) => {
    if (ruling.what === "network-opened" || ruling.what === "network-closed") noteNetwork(ruling, recorder);
    const subject = ruling.request?.subject;
    if (subject === undefined) return;
    const facts = noted[ruling.what]?.(ruling, subject, admission);
    if (facts !== undefined) timeline.note(subject, names[ruling.what] ?? ruling.what, facts);
  });
}

/** Rulings that the timeline has always named differently. */
const names: Partial<Record<Ruling["what"], string>> = { queued: "waiting", admitted: "permitted" };

type FactsOf = (ruling: Ruling, subject: Subject, admission: Admission) => TimelineFacts | undefined;

const noted: Partial<Record<Ruling["what"], FactsOf>> = {
  "queued": ({ request, detail }, { verb }, admission) => {
    const uid = request?.pod ?? "";
    return { uid, detail: verb === "ADD" ? placeText(admission.why(uid), detail) : detail };
  },
  "admitted": ({ request, forMs }, { verb }) => {
    const uid = request?.pod ?? "";
    if (forMs >= waitMsMin) return { uid, tookMs: Math.round(forMs) };
    return verb === "ADD" ? { uid } : undefined;
  },
  "upgraded": ({ detail }) => ({ detail }),
  "hung": ({ detail }) => ({ detail }),
  "moves-again": ({ detail }) => ({ network: detail }),
  "oom-killed": ({ detail }) => ({ network: detail }),
  "charged": ({ request }, _subject, admission) => chargeFacts(request?.pod ?? "", admission),
};

function placeText(view: WaitView | undefined, otherwise: string): string {
  if (view === undefined) return otherwise;
  const { admissionClass, ahead, inLine, namespaces, blocker } = view;
  const among = namespaces > 1 ? `, ${namespaces} namespaces in line` : "";
  return `${admissionClass}, position ${ahead + 1} of ${inLine}${among}: ${describeBlocker(blocker)}`;
}

/** Undefined for a pod without a UID, as admission keeps no account of it. */
function chargeFacts(uid: string, admission: Admission): TimelineFacts | undefined {
  const failing = admission.failuresOf(uid);
  if (failing === undefined) return undefined;
  const { failures, failure, nextTryMs } = failing;
  const cause = failure.cause === "own" || failure.cause === "values" ? "by what the pod itself asks for" : "";
  return { uid, failures, holdMs: Math.round(nextTryMs), ...(cause === "" ? {} : { detail: cause }) };
}

/** Noted for all pods, as each may use the network. */
function noteNetwork({ what, detail }: Ruling, recorder: Recorder): void {
  const [network = "", ...reason] = detail.split(": ");
  recorder.noteAll(what, {
    ...(network === nodeNetworks ? {} : { network }),
    detail: reason.length === 0 ? network : reason.join(": "),
  });
}
