import type { Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { KubeError } from "../../kube/client/api.ts";
import { awayText } from "./await-pod.ts";
import type { NetworkLookup } from "./pod-request.ts";
import type { LiveView, View } from "../../view/view.ts";

/**
 * The networks of the view, and for those it lacks a question to the server itself: a pod and its network are often
 * created together, and the watch of the one may be ahead of the other's. For ADD only, as it may wait.
 */
export function liveNetworks(view: View, clock: Clock, caller: { readonly signal: AbortSignal }): NetworkLookup {
  const { live } = view;
  if (live === undefined) return view;
  return {
    ...(live.isSynced() ? { findKnown: (namespace, name) => view.findNetwork(namespace, name) } : {}),
    findNetwork: async (namespace, name) => {
      const known = await view.findNetwork(namespace, name);
      return known === undefined || known.isElided === true ? await readNetwork(live, namespace, name) : known;
    },
    // The words of Multus' local copy, which stand in its error and in its event.
    absentText: (name) => `: networkattachmentdefinition.k8s.cni.cncf.io ${JSON.stringify(name)} not found`,
  };

  async function readNetwork(...[from, namespace, name]: NetworkQuestion): ReturnType<LiveView["readNetwork"]> {
    // Nothing can have such a name, and in a path it would mean another object or a list.
    if (!isObjectName(namespace) || !isObjectName(name)) return undefined;
    try {
      return await from.readNetwork(namespace, name, caller.signal);
    } catch (thrown) {
      if (!(thrown instanceof KubeError)) throw thrown;
      throw new LeveeError(
        "try-later",
        `Cannot find the network ${namespace}/${name} now: it is not in the local copy, and ${awayText(from, clock, thrown)}`,
        { cause: thrown },
      );
    }
  }
}

type NetworkQuestion = [live: LiveView, namespace: Parameters<LiveView["readNetwork"]>[0], name: string];

/** As the server itself checks names. The JSON form of the annotation takes any text for one. */
function isObjectName(name: string): boolean {
  return name.length <= 253 && /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/u.test(name) && !name.includes("..");
}
