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
  await until("the scheduler finds no second node", async () => (await guards()).some(isWithoutPlace) || undefined);
  const [container] = runningContainers(leveeNamespace, "guard");
  expect(readFileSync(`/proc/${container?.pid ?? 0}/status`, "utf8")).toMatch(/^Uid:\s+65532\s/mu);
});

test("on one node an update waits with the old guard at work, and ends with one replica", async () => {
  const { cluster } = await theInstalled();
  const [current, next] = [BuildOfLevee.current(), BuildOfLevee.next()];
  next.load("levee");
  cluster.kubectl(["apply", "-f", "-"], next.manifest("guard.yaml"));
  const image = next.nameOf("levee");
  await until("the new guard finds no place", async () =>
    (await guards()).some((pod) => imageOf(pod) === image && isWithoutPlace(pod)) ? true : undefined,
  );
  expect((await guards()).filter(isReady).map(imageOf)).toEqual([current.nameOf("levee")]);
  // As docs/guard.md says.
  cluster.kubectl(["-n", leveeNamespace, "scale", "deployment/levee-guard", "--replicas=1"]);
  await untilOnly(image);
  expect(await fetch(`${metrics}/healthz`)).toMatchObject({ status: 200 });
});

test("the image with git takes its place, as for a guard that writes to git", async () => {
  const { cluster } = await theInstalled();
  const build = BuildOfLevee.current();
  build.load("levee-guard");
  const before = holderOf(await cluster.api.find(lease));
  const image = build.nameOf("levee-guard");
  cluster.kubectl(["-n", leveeNamespace, "set", "image", "deployment/levee-guard", `guard=${image}`]);
  await untilOnly(image);
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

/** The same, and the update has ended: nothing else is left of the Deployment. */
async function untilOnly(image: string): Promise<void> {
  const { cluster } = await theInstalled();
  const { metadata } = await untilGuard(image);
  cluster.kubectl(["-n", leveeNamespace, "rollout", "status", "deployment/levee-guard", "--timeout=60s"]);
  say(`${metadata.name} is ready`);
}

async function guards(): Promise<readonly Pod[]> {
  const { cluster } = await theInstalled();
  return (await cluster.pods.list(leveeNamespace)).filter(({ metadata }) => metadata.name.startsWith("levee-guard-"));
}

function imageOf(pod: Pod): string {
  const { containers } = pod["spec"] as { readonly containers: readonly { readonly image: string }[] }; // Kubernetes' own shape
  return containers[0]?.image ?? "";
}

function isWithoutPlace({ status }: Pod): boolean {
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  return scheduled?.message?.startsWith("0/1 nodes are available") === true;
}

function holderOf(found: KubeObject | undefined): string {
  const spec = found?.["spec"] as { readonly holderIdentity?: string } | undefined; // Kubernetes' own shape
  return spec?.holderIdentity ?? "";
}
