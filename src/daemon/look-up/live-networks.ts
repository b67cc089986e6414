import type { Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { KubeError } from "../../kube/client/api.ts";
import { awayText } from "./await-pod.ts";
import type { NetworkLookup } from "./pod-request.ts";
import type { LiveView, View } from "../../view/view.ts";

/**
 * The networks of the view; the missing ones are read from the server. A pod and its network are often created together,
 * and one watch may be ahead of the other. Only ADD uses this, because it may wait.
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
    // Multus' own words, in its error and in its event.
    absentText: (name) => `: networkattachmentdefinition.k8s.cni.cncf.io ${JSON.stringify(name)} not found`,
  };

  async function readNetwork(...[from, namespace, name]: NetworkQuestion): ReturnType<LiveView["readNetwork"]> {
    // No object can have such a name, and in a path it could mean another object or a list.
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

/** The server's own rule for names. The JSON form of the annotation allows any text. */
function isObjectName(name: string): boolean {
  return name.length <= 253 && /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/u.test(name) && !name.includes("..");
}
