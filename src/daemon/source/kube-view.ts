import type { Clock } from "../../base/clock.ts";
import { TokenBucket } from "../../kube/outbox/token-bucket.ts";
import type { ClusterView } from "../../kube/watch/cluster-view.ts";
import type { ClaimView } from "../../view/claim-view.ts";
import type { LiveView, View } from "../../view/view.ts";
import type { ReflectorHealth } from "../../kube/watch/reflector-health.ts";

/** On a slow line a new connection alone takes four round trips. The look-up's own limit is shorter. */
const readMsMax = 10_000;
/**
 * Reads of single pods and networks that the watch has not brought. A pod may name 64 networks that do not exist, and the
 * kubelet tries it again for ever.
 */
const nodePace = { burst: 256, refillMs: 100 };

interface KubeViewParts {
  readonly server: string;
  readonly clock: Clock;
  readonly claims: ClaimView;
}

/** The local copy of the cluster as a view of pods and networks, with the API server itself behind it. */
export function kubeView(cluster: ClusterView, { server, clock, claims }: KubeViewParts): View {
  return {
    findPod: (namespace, name) => cluster.findPod(namespace, name),
    waitForPod: (wanted, signal) => cluster.waitForPod(wanted, signal),
    findNetwork: (namespace, name) => cluster.findNetwork(namespace, name),
    networks: () => [...cluster.networks()],
    pods: () => (cluster.health().pods.isSynced ? [...cluster.pods()] : undefined),
    onPodChange: (listener) => cluster.onPodChange(listener),
    live: liveView(cluster, { server, clock, claims }),
  };
}

/**
 * Since when the server has answered neither watch, on the wall clock. A refusal is an answer. With one working watch the
 * server is not away, because the other may still be reconnecting.
 */
export function awaySinceMs(cluster: Pick<ClusterView, "health">): number | undefined {
  const { pods, networks } = cluster.health();
  if (!isAway(pods) || !isAway(networks)) return undefined;
  return Math.max(pods.failingSinceMs ?? 0, networks.failingSinceMs ?? 0);
}

function liveView(cluster: ClusterView, { server, clock, claims }: KubeViewParts): LiveView {
  // Networks that do not exist must not keep back the reads of pods.
  const [podPace, networkPace] = [new TokenBucket(clock, nodePace), new TokenBucket(clock, nodePace)];
  const turn = async (pace: TokenBucket, signal: AbortSignal): Promise<void> => {
    const waitMs = pace.reserve();
    if (waitMs === 0) return;
    await clock.sleep(waitMs, signal).catch((thrown: unknown) => {
      pace.giveBack();
      throw thrown;
    });
  };
  return {
    server,
    async readPod(namespace, name, signal) {
      await turn(podPace, signal);
      return await cluster.readPod(namespace, name, readMsMax, signal);
    },
    async readNetwork(namespace, name, signal) {
      await turn(networkPace, signal);
      return await cluster.readNetwork(namespace, name, readMsMax, signal);
    },
    claims,
    isSynced: () => cluster.synced(),
    awaySinceMs: () => awaySinceMs(cluster),
    podsSynced: () => cluster.podsSynced(),
    onPodChange: (listener) => cluster.onPodChange(listener),
    onNewPod: (listener) =>
      cluster.onPodChange(({ before, now }) => {
        if (now !== undefined && before?.uid !== now.uid) listener(now);
      }),
  };
}

function isAway({ failingSinceMs, isUnreachable }: ReflectorHealth): boolean {
  return failingSinceMs !== undefined && isUnreachable;
}
