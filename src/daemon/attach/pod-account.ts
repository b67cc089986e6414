import type { Admission } from "../../admission/admission.ts";
import { LeveeError } from "../../base/errors.ts";
import type { PodArgs } from "../../cni/cni-args.ts";
import type { NetConf } from "../../config/net-conf.ts";
import type { View } from "../../view/view.ts";
import { requestFailure } from "../chains/failure-cause.ts";
import type { PodWants } from "./pod-wants.ts";

export interface AccountNeeds {
  readonly admission: Pick<Admission, "failuresOf" | "refuseHeld" | "charge">;
  readonly wants: Pick<PodWants, "text">;
  readonly view: Pick<View, "findPod">;
}

/** A sandbox, as the journal and a call both know it. */
export interface SandboxKey {
  readonly containerId: string;
  readonly ifname: string;
}

interface SeenConf {
  readonly conf?: NetConf | undefined;
}

/** Opens the retry budgets of pods. */
export class PodAccounts {
  readonly #needs: AccountNeeds;
  #conf: NetConf | undefined;

  constructor(needs: AccountNeeds) {
    this.#needs = needs;
  }

  /** A call's configuration was read. The shim keeps it while its call waits, so the newest one counts for all pods. */
  seen(conf: NetConf): void {
    this.#conf = conf;
  }

  get conf(): NetConf | undefined {
    return this.#conf;
  }

  /** The pod's UID comes from the runtime, else from the local copy. */
  async open(pod: PodArgs, sandbox: SandboxKey): Promise<PodAccount> {
    if (pod.uid !== undefined || pod.namespace === undefined || pod.name === undefined) return this.of(pod, sandbox);
    const found = await this.#needs.view.findPod(pod.namespace, pod.name);
    return this.of(found === undefined ? pod : { ...pod, uid: found.uid }, sandbox);
  }

  /** For a pod whose UID is known, or cannot be found. */
  of(pod: PodArgs, sandbox: SandboxKey): PodAccount {
    return new PodAccount(pod, sandbox, this.#needs, this);
  }
}

/**
 * The retry budget of one pod, as one ADD uses it. Without a UID the daemon cannot know that two sandboxes belong to one
 * pod: then each counts alone, and none is held.
 */
export class PodAccount {
  /** Admission's key for the pod. */
  readonly key: string;
  readonly #needs: AccountNeeds;
  readonly #pod: PodArgs;
  readonly #seen: SeenConf;
  #text = "";

  constructor(pod: PodArgs, sandbox: SandboxKey, needs: AccountNeeds, seen: SeenConf = {}) {
    const { uid = "" } = pod;
    this.key = uid === "" ? `${sandbox.containerId}/${sandbox.ifname}` : uid;
    this.#pod = pod;
    this.#needs = needs;
    this.#seen = seen;
  }

  /** The pod's wants, as of the last look; undefined for a pod that is never held. */
  get wants(): (() => string) | undefined {
    return (this.#pod.uid ?? "") === "" ? undefined : () => this.#text;
  }

  /** Throws for a pod that is held, before anything is looked up, asked or run for it. */
  async refuseHeld(): Promise<void> {
    const { admission } = this.#needs;
    if (admission.failuresOf(this.key) === undefined) return;
    await this.look();
    const { namespace = "" } = this.#pod;
    admission.refuseHeld({
      kind: "attach",
      namespace,
      pod: this.key,
      priority: await this.#priority(),
      networks: [],
      wants: this.wants,
    });
  }

  /** Updates the pod's wants. Only a pod that has failed needs this. */
  async look(): Promise<void> {
    if (this.wants !== undefined) this.#text = await this.#needs.wants.text(this.#pod, this.#seen.conf);
  }

  /** Charges the pod for an error in its own request, before it has a permit. */
  async watch<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (thrown) {
      const failure = thrown instanceof LeveeError ? requestFailure(thrown) : undefined;
      if (failure !== undefined) {
        await this.look();
        this.#needs.admission.charge({ pod: this.key, wants: this.wants }, failure);
      }
      throw thrown;
    }
  }

  async #priority(): Promise<number | undefined> {
    const { namespace, name } = this.#pod;
    if (namespace === undefined || name === undefined) return undefined;
    return (await this.#needs.view.findPod(namespace, name))?.priority;
  }
}
