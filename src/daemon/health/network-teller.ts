import type { Namespace } from "../../base/brand.ts";
import type { NetworkReadiness } from "../../readiness/network-rules.ts";
import type { EventTeller } from "../tell/event-teller.ts";

/** A node that lost its uplink has thousands of Events to send; the rest follow a minute later. */
const eventsMax = 20;

/** Sends an Event on a network that cannot be attached on this node, and one when it can again. */
export class NetworkTeller {
  readonly #eventTeller: EventTeller;
  readonly #nodeName: string;
  /** The last reason told about each network that is not ready. */
  readonly #told = new Map<string, string>();

  constructor(eventTeller: EventTeller, nodeName: string) {
    this.#eventTeller = eventTeller;
    this.#nodeName = nodeName;
  }

  tell(networks: Iterable<NetworkReadiness & { readonly uid: string }>): void {
    const gone = new Set(this.#told.keys());
    let events = 0;
    for (const network of networks) {
      gone.delete(network.network);
      // A network without a UID is not an object in a cluster.
      if (events < eventsMax && network.uid !== "" && this.#tellOne(network)) events += 1;
    }
    for (const key of gone) this.#told.delete(key);
  }

  /** Returns whether an Event was sent. */
  #tellOne({ network, uid, state, reasons }: NetworkReadiness & { readonly uid: string }): boolean {
    const reason = reasons.join(", ");
    const before = this.#told.get(network);
    if (state === "unknown" || (state === "ready" ? before === undefined : before === reason)) return false;
    const [namespace = "", name = ""] = network.split("/");
    const ref = { namespace: namespace as Namespace, name, uid };
    if (state === "not-ready") {
      this.#told.set(network, reason);
      this.#eventTeller.aboutNetwork(ref, {
        type: "Warning",
        reason: "NetworkNotReady",
        message: `Pods cannot be attached on node ${this.#nodeName}: ${reason}`,
      });
    } else {
      this.#told.delete(network);
      this.#eventTeller.aboutNetwork(ref, {
        type: "Normal",
        reason: "NetworkReady",
        message: `Pods can be attached on node ${this.#nodeName}`,
      });
    }
    return true;
  }
}
