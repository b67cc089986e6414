import type { Admission } from "../../admission/admission.ts";
import type { AdmissionRequest } from "../../admission/request.ts";
import type { Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { podArgs } from "../../cni/cni-args.ts";
import { supportsVerb } from "../../cni/cni-version.ts";
import type { CheckRequest } from "../../cni/verb.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { runCheck, type ChainPlace } from "../../hands/run-chain.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { ChainNotes } from "../record/chain-notes.ts";
import { subjectOfCall } from "../record/subject.ts";
import type { Call } from "../serve/call.ts";
import { silence, type Reply } from "../serve/reply.ts";
import type { Turns } from "../serve/turns.ts";

export interface CheckNeeds {
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "addDelegatesMs">;
  readonly turns: Turns;
  readonly journal: Pick<Journal, "find">;
  readonly admission: Admission;
  readonly notes: Pick<ChainNotes, "ran">;
}

/** The verb CHECK: asks every plugin of every attachment whether its work still stands, with its result from ADD. */
export class CheckVerb {
  readonly #needs: CheckNeeds;

  constructor(needs: CheckNeeds) {
    this.#needs = needs;
  }

  async serve(call: Call, request: CheckRequest): Promise<Reply> {
    const { turns, journal, admission } = this.#needs;
    const { containerId, ifname } = request;
    const holder = { verb: "CHECK", cancel: (reason: Error) => call.cancel(reason) };
    using _turn = await turns.take(containerId, holder, call.signal);
    const record = journal.find({ containerId, ifname });
    if (record === undefined || record.results.length === 0) {
      throw new LeveeError(
        "container-unknown",
        `Cannot check ${containerId} as ${ifname} was never attached or has been deleted`,
      );
    }
    using _permit = await admission.admit(call.asks(admissionOfCheck(request), admission), call.signal);
    const place = this.#place(call, request, record.cniPath);
    for (const [index, chain] of record.chains.entries()) {
      const result = record.results[index];
      if (chain.disableCheck || result === undefined || !supportsVerb(chain.cniVersion, "CHECK")) continue;
      call.signal.throwIfAborted();
      await runCheck(call.hand, chain, place, result);
    }
    return silence;
  }

  #place(call: Call, request: CheckRequest, cniPath: string): ChainPlace {
    const { clock, config, notes } = this.#needs;
    const subject = subjectOfCall(request);
    const endsMs = clock.monotonicMs() + Math.min(config.addDelegatesMs, call.remainingMs());
    return {
      containerId: request.containerId,
      netns: request.netns,
      cniPath,
      remainingMs: () => Math.max(1, endsMs - clock.monotonicMs()),
      onRan: (ran) => notes.ran(subject, ran),
    };
  }
}

/** A CHECK takes a slot as an ADD does, but names no pod: a waiting ADD of the same pod must not give way to it. */
function admissionOfCheck(request: CheckRequest): AdmissionRequest {
  const namespace = podArgs(request.args).namespace ?? "";
  return { kind: "attach", namespace, pod: "", priority: undefined, networks: [] };
}
