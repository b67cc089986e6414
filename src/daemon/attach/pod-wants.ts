import { parseSelection } from "../../attachment/selection.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { PodArgs } from "../../cni/cni-args.ts";
import type { NetConf } from "../../config/net-conf.ts";
import type { ConfCache } from "../look-up/conf-cache.ts";
import { hasUid } from "../look-up/find-pod.ts";
import { primaryNetwork } from "../look-up/networks.ts";
import type { View } from "../../view/view.ts";
import { defaultNetworkAnnotation, networksAnnotation, resourceNameAnnotation } from "../../base/annotations.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

/**
 * What decides whether a pod's ADD can succeed, as one text: its annotation, the definitions it names and the primary
 * network. A pod that is held because of a failure is let go when it changes. All of it comes from the local copy and the
 * node's own files: for a pod that fails again and again nobody is asked.
 */
export class PodWants {
  readonly #view: View;
  readonly #confs: ConfCache;

  constructor({ view, confs }: { readonly view: View; readonly confs: ConfCache }) {
    this.#view = view;
    this.#confs = confs;
  }

  /** `conf` is the newest that a call came with: it names the primary network. */
  async text(args: PodArgs, conf?: NetConf): Promise<string> {
    const pod = await this.#pod(args);
    const selection = [networksAnnotation, defaultNetworkAnnotation].map((name) => pod?.annotations[name] ?? "");
    return JSON.stringify([selection, await this.#definitions(pod), await this.#primary(conf)]);
  }

  async #pod({ namespace, name, uid }: PodArgs): Promise<PodFacts | undefined> {
    if (namespace === undefined || name === undefined) return undefined;
    const pod = await this.#view.findPod(namespace, name);
    return pod !== undefined && hasUid(pod, uid) ? pod : undefined;
  }

  async #definitions(pod: PodFacts | undefined): Promise<readonly unknown[]> {
    if (pod === undefined) return [];
    const definitions = elementsOf(pod).map(({ namespace, name }) => this.#view.findNetwork(namespace, name));
    return (await Promise.all(definitions)).map((definition) =>
      // One that is too long for the local copy is known by its name only.
      definition === undefined ? "absent" : [definition.config, definition.annotations[resourceNameAnnotation]],
    );
  }

  /** A primary that cannot be read is a reason to fail, too, and mending it one to try again. */
  async #primary(netConf: NetConf | undefined): Promise<readonly string[]> {
    if (netConf === undefined) return [];
    try {
      const { conf } = await primaryNetwork(netConf, { view: this.#view, confs: this.#confs });
      return [conf.text, ...conf.plugins.map(({ text }) => text)];
    } catch (thrown) {
      return [toLeveeError(thrown, "The primary network").message];
    }
  }
}

function elementsOf(pod: PodFacts): ReturnType<typeof parseSelection> {
  try {
    return parseSelection(pod.annotations[networksAnnotation] ?? "", pod.namespace);
  } catch {
    // Whoever looks for the pod's networks says what is wrong with it; here it is its text that counts.
    return [];
  }
}
