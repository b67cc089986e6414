import { readdirSync, readFileSync } from "node:fs";
import type { Cluster } from "../cluster.ts";
import type { LeveeNode } from "../node/levee-node.ts";
import type { Machine } from "../machine.ts";
import { hostInterfaces } from "../networks.ts";
import { untilServing } from "../node/containerd.ts";
import { run } from "../run.ts";
import { until } from "../until.ts";

interface Booted {
  readonly cluster: Cluster;
  /** Where Levee runs without containers. */
  readonly levee?: Pick<LeveeNode, "daemon" | "hand">;
}

/**
 * A reboot without one: every process of the node dies at once, `/run` and every mount and interface are gone, the
 * disk stays, and the kernel says that it is another boot. `meanwhile` is what is done to the disk with nothing running,
 * `onceServing` what the runtime is given before the kubelet starts.
 */
export async function reboot(
  { cluster, levee }: Booted,
  meanwhile = (): void => undefined,
  onceServing = (): void => undefined,
): Promise<void> {
  const programs = levee === undefined ? [] : [levee.daemon, levee.hand];
  for (const program of [cluster.kubelet, cluster.containerd, ...programs]) await program.stop("SIGKILL");
  await killAllContainers(cluster.machine);
  run("umount", "--recursive", "--lazy", "/run");
  for (const mount of mountsBelow("/var/lib/kubelet/")) run("umount", "--lazy", mount);
  run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run");
  // With their namespaces the pods' own interfaces go by themselves, some time soon.
  for (const name of hostInterfaces("type", "bridge")) if (name !== "node0") run("ip", "link", "delete", name);
  cluster.machine.removePodCgroups();
  cluster.machine.newBootId();
  meanwhile();
  for (const program of [cluster.containerd, ...programs]) program.start();
  await untilServing(cluster.containerd);
  onceServing();
  await cluster.restartKubelet();
}

/** containerd's shims and what runs in pods' cgroups. */
async function killAllContainers(machine: Machine): Promise<void> {
  await until("all containers are dead", () => {
    const alive = processes().filter((pid) => isOfContainers(pid, machine));
    for (const pid of alive) kill(pid);
    return alive.length === 0 ? true : undefined;
  });
}

function processes(): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function isOfContainers(pid: number, machine: Machine): boolean {
  try {
    if (/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))) return false;
    if (readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("containerd-shim")) return true;
    return readFileSync(`/proc/${pid}/cgroup`, "utf8").includes(`${machine.cgroup}/kubepods`);
  } catch {
    return false;
  }
}

/** All of them are in this run's own process namespace, so they all belong to it. */
function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It was faster.
  }
}

function mountsBelow(folder: string): readonly string[] {
  return readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "")
    .filter((path) => path.startsWith(folder))
    .toReversed();
}
