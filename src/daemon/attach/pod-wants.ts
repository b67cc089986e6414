import { parseSelection } from "../../attachment/selection.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { PodArgs } from "../../cni/cni-args.ts";
import type { NetConf } from "../../config/net-conf.ts";
import type { ConfCache } from "../look-up/conf-cache.ts";
import { hasUid } from "../look-up/find-pod.ts";
import { primaryNetwork } from "../look-up/networks.ts";
import type { View } from "../../view/view.ts";
import { defaultNetworkAnnotation, networksAnnotation } from "../../base/annotations.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

/**
 * Everything that decides whether a pod's ADD can succeed, as one text: its annotations, the definitions they name and
 * the primary network. When the text changes, the hold of a failed pod ends. It comes from the local copy and the node's
 * own files, so that a pod that fails again and again causes no requests.
 */
export class PodWants {
  readonly #view: View;
  readonly #confs: ConfCache;

  constructor({ view, confs }: { readonly view: View; readonly confs: ConfCache }) {
    this.#view = view;
    this.#confs = confs;
  }

  /** `conf` is the newest configuration of any call. It names the primary network. */
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
      // A definition too long for the local copy has only its name there.
      definition === undefined ? "absent" : [definition.config, definition.annotations],
    );
  }

  /** An unreadable primary network counts by its error, so that mending it ends the hold too. */
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
    // The look-up reports the error in the annotation. Here only its text counts.
    return [];
  }
}
