import { expect, test } from "bun:test";
import { pathOf } from "../../e2e/manifests.ts";
import { leveeNamespace } from "../../e2e/node/levee-node.ts";
import { say } from "../../e2e/say.ts";
import { names, podsOn } from "../../e2e/the-levee.ts";
import { removePods, untilAttached } from "../expectations.ts";
import { theNode, type VmScene } from "../the-node.ts";

const sixty = names("storm", 60);
/** Sixty sandboxes take an emulated containerd some minutes. */
const stormMs = 1_800_000;

interface StormRun {
  readonly oomKills: number;
  readonly restarts: number;
  readonly burst: { readonly attached: number };
  readonly tookMs?: number;
  readonly peakBytes: number;
  readonly broken: readonly string[];
}

test("levee storm holds 60 pods at 50Mi, and the kernel kills nothing", async () => {
  const scene = await theNode();
  const held = await rehearse(scene, "--pods 60 --limit 50Mi");
  say(`60 pods in ${((held.tookMs ?? 0) / 1000).toFixed(0)} s, ${(held.peakBytes / 1048576).toFixed(1)} MiB at most`);
  expect(held).toMatchObject({ oomKills: 0, restarts: 0, burst: { attached: 60 }, broken: [] });
});

test("60 pods at once in the cluster with the daemon at 50Mi: all run, the kernel kills nothing, and a kill would be counted", async () => {
  const scene = await theNode();
  const { plane, levee, machine } = scene;
  const path = pathOf("DaemonSet", leveeNamespace, "levee");
  await limitDaemon("50Mi");
  const before = await levee.pod("daemon");
  await plane.pods.create(podsOn(sixty, "lan"));
  await plane.pods.untilReady(sixty, { timeoutMs: stormMs });
  say("60 pods are ready");
  await untilAttached(scene, sixty, ["default/lan"]);
  const cgroup = await daemonCgroup(scene);
  expect((await machine.shell.run(`cat ${cgroup}/memory.max`)).trim()).toBe("52428800");
  expect(await kernelKills(scene, cgroup)).toBe(0);
  expect(await levee.metric(kills)).toBe(0);
  await provokeKill(scene, cgroup);
  expect(await kernelKills(scene, cgroup)).toBe(1);
  expect(await levee.metric(kills)).toBe(1);
  const after = await levee.pod("daemon");
  expect(after.metadata.uid).toBe(before.metadata.uid ?? "");
  expect(after.status?.containerStatuses?.[0]?.restartCount).toBe(
    before.status?.containerStatuses?.[0]?.restartCount ?? -1,
  );
  await removePods(scene, sixty);
  await limitDaemon("96Mi");

  async function limitDaemon(memory: string): Promise<void> {
    const resources = { limits: { memory } };
    await plane.api.patch(path, { spec: { template: { spec: { containers: await withResources(resources) } } } });
    await plane.untilRolledOut(leveeNamespace, "levee");
    await levee.untilReady();
  }

  /** A merge patch replaces a list as a whole. */
  async function withResources(resources: unknown): Promise<readonly unknown[]> {
    const set = await plane.api.get<{ spec: { template: { spec: { containers: readonly object[] } } } }>(path);
    return set.spec.template.spec.containers.map((container) => ({ ...container, resources }));
  }
});

const kills = "levee_memory_oom_kills_total";

async function daemonCgroup({ machine }: VmScene): Promise<string> {
  const own = await machine.shell.run("cut -d: -f3 /proc/$(pgrep --oldest --full 'levee daemon')/cgroup");
  return `/sys/fs/cgroup${own.trim()}`;
}

async function kernelKills({ machine }: VmScene, cgroup: string): Promise<number> {
  return Number(/^oom_kill (\d+)$/mu.exec(await machine.shell.run(`cat ${cgroup}/memory.events`))?.[1]);
}

/** A process beside the daemon takes more than both may have, and asks to be the one that is killed. */
async function provokeKill({ machine }: VmScene, cgroup: string): Promise<void> {
  await machine.shell.run(
    `echo 0 > ${cgroup}/memory.oom.group
    sh -c 'echo $$ > ${cgroup}/cgroup.procs && echo 1000 > /proc/self/oom_score_adj && exec busybox dd if=/dev/zero of=/dev/null bs=200M count=1' || true`,
  );
}

const storm = "levee storm --second-within 5m --plugins /opt/cni/bin";

async function rehearse({ machine }: VmScene, options: string): Promise<StormRun> {
  const told = await machine.shell.try(`${storm} --timeout 10m ${options} -o json`, stormMs);
  const { runs } = JSON.parse(told.stdout) as { runs: readonly StormRun[] }; // ours
  const [run] = runs;
  if (run === undefined) throw new Error(`levee storm ran no storm: ${told.stderr}`);
  return run;
}
