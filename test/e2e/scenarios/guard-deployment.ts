/** The guard as people install it: guard.yaml of the release, its Deployment, and both images that can run it. */
import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { KubeObject } from "../api.ts";
import { leveeNamespace } from "../node/levee-node.ts";
import { runningContainers } from "../node/containerd.ts";
import { isReady, type Pod } from "../pods.ts";
import { BuildOfLevee } from "../installed/build-of-levee.ts";
import { say } from "../say.ts";
import { theInstalled } from "../installed/the-installed.ts";
import { until } from "../until.ts";

const metrics = "http://127.0.0.1:9811";
const lease = "/apis/coordination.k8s.io/v1/namespaces/levee-system/leases/levee-guard";

test("guard.yaml: one replica leads; the other waits for a second node", async () => {
  const { cluster } = await theInstalled();
  const build = BuildOfLevee.current();
  cluster.kubectl(["apply", "-f", "-"], build.manifest("crds.yaml"));
  cluster.kubectl(["apply", "-f", "-"], build.manifest("guard.yaml"));
  const leader = await untilGuard(build.nameOf("levee"));
  say(`${leader.metadata.name} is ready`);
  expect(await fetch(`${metrics}/healthz`)).toMatchObject({ status: 200 });
  await until("it leads", async () => (holderOf(await cluster.api.find(lease)) === "" ? undefined : true));
  await until("the scheduler finds no second node", async () => {
    const other = (await guards()).find(({ metadata }) => metadata.name !== leader.metadata.name);
    const scheduled = other?.status?.conditions?.find(({ type }) => type === "PodScheduled");
    return scheduled?.message?.startsWith("0/1 nodes are available") || undefined;
  });
  const [container] = runningContainers(leveeNamespace, "guard");
  expect(readFileSync(`/proc/${container?.pid ?? 0}/status`, "utf8")).toMatch(/^Uid:\s+65532\s/mu);
});

test("the image with git takes its place, as for a guard that writes to git", async () => {
  const { cluster } = await theInstalled();
  const build = BuildOfLevee.current();
  build.load("levee-guard");
  const before = holderOf(await cluster.api.find(lease));
  // On the only node a second replica would never start, and an update waits for it.
  cluster.kubectl(["-n", leveeNamespace, "scale", "deployment/levee-guard", "--replicas=1"]);
  const image = build.nameOf("levee-guard");
  cluster.kubectl(["-n", leveeNamespace, "set", "image", "deployment/levee-guard", `guard=${image}`]);
  const leader = await untilGuard(image);
  say(`${leader.metadata.name} is ready`);
  await until("it leads", async () => {
    const holder = holderOf(await cluster.api.find(lease));
    return holder !== "" && holder !== before ? true : undefined;
  });
});

afterAll(async () => {
  const { cluster } = await theInstalled();
  cluster.kubectl(["delete", "--ignore-not-found", "-f", "-"], BuildOfLevee.current().manifest("guard.yaml"));
}, 120_000);

/** Waits until one replica of the image is ready. */
async function untilGuard(image: string): Promise<Pod> {
  return until(
    `a guard of ${image} is ready`,
    async () => {
      const all = await guards();
      const found = all.find((pod) => isReady(pod) && pod.status?.containerStatuses?.[0]?.imageID === image);
      if (found === undefined) throw new Error(JSON.stringify(all.map(({ status }) => status)));
      return found;
    },
    { timeoutMs: 90_000, everyMs: 300 },
  );
}

async function guards(): Promise<readonly Pod[]> {
  const { cluster } = await theInstalled();
  return (await cluster.pods.list(leveeNamespace)).filter(({ metadata }) => metadata.name.startsWith("levee-guard-"));
}

function holderOf(found: KubeObject | undefined): string {
  const spec = found?.["spec"] as { readonly holderIdentity?: string } | undefined; // Kubernetes' own shape
  return spec?.holderIdentity ?? "";
}
