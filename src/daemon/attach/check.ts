import { LeveeError } from "../../base/errors.ts";
import { supportsVerb } from "../../cni/cni-version.ts";
import type { CheckRequest } from "../../cni/verb.ts";
import { runCheck, type ChainPlace } from "../../hands/run-chain.ts";
import { admissionOfCheck } from "./admission-request.ts";
import { noteAsked } from "./note-asked.ts";
import type { Call } from "../serve/call.ts";
import { noteRun } from "../undo/undo-chains.ts";
import type { Ports } from "../ports.ts";
import { subjectOfCall } from "../record/subject.ts";
import { silence, type Reply } from "../serve/reply.ts";

/** Asks every plugin of every attachment whether its work still stands, with the result it gave at ADD. */
export async function check(call: Call, request: CheckRequest, ports: Ports): Promise<Reply> {
  using _turn = await ports.turns.take(
    request.containerId,
    { verb: "CHECK", cancel: (reason) => call.cancel(reason) },
    call.signal,
  );
  const record = ports.journal.find({ containerId: request.containerId, ifname: request.ifname });
  if (record === undefined || record.results.length === 0) {
    throw new LeveeError(
      "container-unknown",
      `Cannot check ${request.containerId} as ${request.ifname} was never attached, or is deleted`,
    );
  }
  using _permit = await ports.admission.admit(noteAsked(call, admissionOfCheck(request), ports), call.signal);
  const place = checkPlace(call, request, record.cniPath, ports);
  for (const [index, chain] of record.chains.entries()) {
    const result = record.results[index];
    if (chain.disableCheck || result === undefined || !supportsVerb(chain.cniVersion, "CHECK")) continue;
    call.signal.throwIfAborted();
    await runCheck(call.hand, chain, place, result);
  }
  return silence;
}

function checkPlace(call: Call, request: CheckRequest, cniPath: string, ports: Ports): ChainPlace {
  const subject = subjectOfCall(request);
  const endsMs = ports.clock.monotonicMs() + Math.min(ports.config.addDelegatesMs, call.remainingMs());
  return {
    containerId: request.containerId,
    netns: request.netns,
    cniPath,
    remainingMs: () => Math.max(1, endsMs - ports.clock.monotonicMs()),
    onRan: (ran) => noteRun(ports, subject, ran),
  };
}
