import type { Admission } from "../../admission/admission.ts";
import type { Permit } from "../../admission/permit.ts";
import type { GivenUp } from "../../base/given-up.ts";
import type { NetworkChange } from "../../attachment/network-changes.ts";
import { networkNameOf } from "../../attachment/selection-element.ts";
import type { NetConf } from "../../config/net-conf.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { PodFacts } from "../../view/pod-facts.ts";
import type { PodWants } from "../attach/pod-wants.ts";
import { ChainReports } from "../chains/chain-reports.ts";
import { subjectOf } from "../record/subject.ts";
import { budgetKey, budgetKeyOf } from "./budget-key.ts";

export interface PlugBudgetNeeds {
  readonly admission: Admission;
  readonly wants: Pick<PodWants, "text">;
  readonly lastConf: () => NetConf | undefined;
}

interface Asker {
  readonly givenUp: GivenUp;
}

/**
 * The line and the retry budget for changes of running pods: the same line as for ADDs and DELs, with the same rules. A
 * pod's changes are counted apart from its ADDs and each network from the others, so that none holds another.
 */
export class PlugBudget {
  readonly #needs: PlugBudgetNeeds;
  readonly #texts = new Map<string, string>();

  constructor(needs: PlugBudgetNeeds) {
    this.#needs = needs;
  }

  async admit(record: AttachmentRecord, pod: PodFacts, change: NetworkChange, { givenUp }: Asker): Promise<Permit> {
    const { admission } = this.#needs;
    const kind = change.joining === undefined ? "detach" : "attach";
    const networks = [
      ...change.leaving.map(({ network }) => String(network)),
      ...(change.joining === undefined ? [] : [String(networkNameOf(change.joining.element))]),
    ];
    const key = budgetKeyOf(record, change);
    if (admission.failuresOf(key) !== undefined) await this.#look(key, pod);
    const facts = { namespace: record.pod.namespace, pod: key, priority: pod.priority, networks };
    const subject = subjectOf(record, "PLUG");
    return await admission.admit({ kind, subject, ...facts, wants: () => this.#texts.get(key) ?? "" }, givenUp);
  }

  /** For the rest of a change that an earlier daemon or hand left. */
  async admitRest(record: AttachmentRecord, { givenUp }: Asker): Promise<Permit> {
    const { namespace } = record.pod;
    const networks = [...record.chains, ...(record.plug?.joining ?? [])].map(({ network }) => String(network));
    const facts = { namespace, pod: budgetKey(record), priority: undefined, networks, isResumed: true };
    return await this.#needs.admission.admit({ kind: "attach", subject: subjectOf(record, "PLUG"), ...facts }, givenUp);
  }

  /** Without a pod the failure of a change is not charged. */
  reportsOf(permit: Permit, pod?: PodFacts): ChainReports {
    const account = pod === undefined ? undefined : { look: () => this.#look(permit.request.pod, pod) };
    return new ChainReports(permit, account);
  }

  /** What decides whether the change can succeed: once it is another, the pod may try at once. */
  async #look(key: string, { namespace, name, uid }: PodFacts): Promise<void> {
    const { wants, lastConf } = this.#needs;
    this.#texts.set(key, await wants.text({ namespace, name, ...(uid === "" ? {} : { uid }) }, lastConf()));
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size <= textsMax) return;
      this.#texts.delete(oldest);
    }
  }
}

/** Networks that could not be attached to running pods; a node has few. */
const textsMax = 64;
