import { theCluster } from "./the-cluster.ts";
import { until } from "./until.ts";

/** A scenario that failed half-way must not fail the next one: whatever is down is started, whatever is there is deleted. */
export async function tidy(): Promise<void> {
  const cluster = await theCluster();
  if (!cluster.apiServer.isRunning) await cluster.startApiServerAgain();
  await cluster.controllers.keepRunning();
  if (!cluster.containerd.isRunning) await cluster.restartContainerd();
  if (!cluster.kubelet.isRunning) await cluster.restartKubelet();
  const left = (await cluster.pods.list()).map((pod) => pod.metadata.name);
  if (left.length === 0) return;
  await cluster.pods.delete(left);
  await until(
    "the pods of the scenario are gone",
    async () => ((await cluster.pods.list()).length === 0 ? true : undefined),
    {
      timeoutMs: 90_000,
    },
  );
}
