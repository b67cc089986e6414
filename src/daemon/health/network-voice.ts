import type { Namespace } from "../../base/brand.ts";
import type { NetworkReadiness } from "../../readiness/network-rules.ts";
import type { EventTeller } from "../tell/event-teller.ts";

/** A node that lost its uplink has thousands to tell; those told first stand for the rest, which come a minute later. */
const eventsMax = 20;

/** Tells on a network that it cannot be attached on this node, once per change. */
export class NetworkVoice {
  readonly #eventTeller: EventTeller;
  readonly #nodeName: string;
  /** What was said last about each network that is not ready. */
  readonly #said = new Map<string, string>();

  constructor(eventTeller: EventTeller, nodeName: string) {
    this.#eventTeller = eventTeller;
    this.#nodeName = nodeName;
  }

  say(networks: Iterable<NetworkReadiness & { readonly uid: string }>): void {
    const gone = new Set(this.#said.keys());
    let events = 0;
    for (const network of networks) {
      gone.delete(network.network);
      // Without a UID it is no object of a cluster.
      if (events < eventsMax && network.uid !== "" && this.#tell(network)) events += 1;
    }
    for (const key of gone) this.#said.delete(key);
  }

  /** Whether there was anything new. */
  #tell({ network, uid, state, reasons }: NetworkReadiness & { readonly uid: string }): boolean {
    const reason = reasons.join(", ");
    const before = this.#said.get(network);
    if (state === "unknown" || (state === "ready" ? before === undefined : before === reason)) return false;
    const [namespace = "", name = ""] = network.split("/");
    const ref = { namespace: namespace as Namespace, name, uid };
    if (state === "not-ready") {
      this.#said.set(network, reason);
      this.#eventTeller.aboutNetwork(ref, {
        type: "Warning",
        reason: "NetworkNotReady",
        message: `Pods cannot be attached on node ${this.#nodeName}: ${reason}`,
      });
    } else {
      this.#said.delete(network);
      this.#eventTeller.aboutNetwork(ref, {
        type: "Normal",
        reason: "NetworkReady",
        message: `Pods can be attached on node ${this.#nodeName}`,
      });
    }
    return true;
  }
}
