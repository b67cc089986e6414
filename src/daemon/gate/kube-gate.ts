import { gateLabel, gateLabelDeny } from "../../base/annotations.ts";
import { kubeStatusOf, metadataOnly, type KubeApi } from "../../kube/client/api.ts";
import { gatesPath, parseRebootGate } from "../../wire/reboot-gate.ts";
import type { PodFacts } from "../../view/pod-facts.ts";
import type { GateSource } from "./gate-source.ts";

/** Far longer than a working server takes, and shorter than the pause between two looks. */
const deadlineMs = 5_000;

interface KubeGateOptions {
  readonly api: KubeApi;
  readonly nodeName: string;
  /** The daemon's own namespace; undefined outside of a cluster, where it has no pods. */
  readonly namespace: string | undefined;
  /** The pods of this node. */
  readonly pods: () => Iterable<PodFacts>;
}

/** The gate of this node on the API server. */
export function kubeGate({ api, nodeName, namespace, pods }: KubeGateOptions): GateSource {
  return {
    async read() {
      try {
        const path = `${gatesPath}/${encodeURIComponent(nodeName)}`;
        return parseRebootGate(JSON.parse(await api.call({ method: "GET", path, deadlineMs })));
      } catch (thrown) {
        // Neither the object nor its definition need to be there.
        if (kubeStatusOf(thrown) === 404 || thrown instanceof SyntaxError) return undefined;
        throw thrown;
      }
    },
    openPods: () =>
      [...pods()].filter((pod) => pod.namespace === namespace && pod.isGateClosed === false && pod.isDeleting !== true),
    async close({ namespace: ours, name, uid }) {
      await api.call({
        method: "PATCH",
        // The right that the daemon has anyhow. The admission policy lets it write this label there, and no other.
        path: `/api/v1/namespaces/${ours}/pods/${name}/status`,
        contentType: "application/merge-patch+json",
        accept: metadataOnly,
        body: JSON.stringify({ metadata: { uid, labels: { [gateLabel]: gateLabelDeny } } }),
        deadlineMs,
      });
    },
  };
}
