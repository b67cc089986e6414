import type { Admission } from "../../admission/admission.ts";
import { LeveeError } from "../../base/errors.ts";
import type { PodArgs } from "../../cni/cni-args.ts";
import { requestFailure } from "../chains/failure-cause.ts";
import type { PodWants } from "./pod-wants.ts";
import type { View } from "../../view/view.ts";

export interface AccountPorts {
  readonly admission: Pick<Admission, "failuresOf" | "refuseHeld" | "charge">;
  readonly wants: Pick<PodWants, "text">;
  readonly view: Pick<View, "findPod">;
}

/** A sandbox, as the journal and a call both know it. */
export interface Sandbox {
  readonly containerId: string;
  readonly ifname: string;
}

/**
 * The retry budget of one pod, as one ADD of it uses it. Without a UID nobody can tell whether two sandboxes are of one
 * pod: each is its own then, and none is held.
 */
export class PodAccount {
  /** By which admission knows the pod. */
  readonly key: string;
  readonly #ports: AccountPorts;
  readonly #pod: PodArgs;
  #text = "";

  constructor(pod: PodArgs, sandbox: Sandbox, ports: AccountPorts) {
    const { uid = "" } = pod;
    this.key = uid === "" ? `${sandbox.containerId}/${sandbox.ifname}` : uid;
    this.#pod = pod;
    this.#ports = ports;
  }

  /** The pod's UID comes from the runtime, else from the local copy. */
  static async open(pod: PodArgs, sandbox: Sandbox, ports: AccountPorts): Promise<PodAccount> {
    if (pod.uid !== undefined || pod.namespace === undefined || pod.name === undefined)
      return new PodAccount(pod, sandbox, ports);
    const found = await ports.view.findPod(pod.namespace, pod.name);
    return new PodAccount(found === undefined ? pod : { ...pod, uid: found.uid }, sandbox, ports);
  }

  /** What the pod wants, as of the last look; undefined for one that is never held. */
  get wants(): (() => string) | undefined {
    return (this.#pod.uid ?? "") === "" ? undefined : () => this.#text;
  }

  /** Throws for a pod that is held, before anything is looked up, asked or run for it. */
  async refuseHeld(): Promise<void> {
    const { admission } = this.#ports;
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

  /** Looks at what the pod wants. Done for those that have failed only: others need not be compared with anything. */
  async look(): Promise<void> {
    if (this.wants !== undefined) this.#text = await this.#ports.wants.text(this.#pod);
  }

  /** Charges the pod with an error of what it asks for, from before it has a permit. */
  async watch<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (thrown) {
      const failure = thrown instanceof LeveeError ? requestFailure(thrown) : undefined;
      if (failure !== undefined) {
        await this.look();
        this.#ports.admission.charge({ pod: this.key, wants: this.wants }, failure);
      }
      throw thrown;
    }
  }

  async #priority(): Promise<number | undefined> {
    const { namespace, name } = this.#pod;
    if (namespace === undefined || name === undefined) return undefined;
    return (await this.#ports.view.findPod(namespace, name))?.priority;
  }
}
