import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { nodes, thisNode } from "./node/which-node.ts";
import { folderPrefix } from "./apart.ts";
import { run } from "./run.ts";

/** Folders that a node writes to. Each is a folder of ours here, so the machine's own stay as they are. */
const nodeFolders = [
  "/etc/cni",
  "/opt/cni",
  "/var/lib/cni",
  "/var/lib/containerd",
  "/var/lib/kubelet",
  "/var/lib/levee",
  "/var/log/containers",
  "/var/log/pods",
];
const bootIdFile = "/proc/sys/kernel/random/boot_id";
export const nodeName = thisNode.name;
/** An address of the machine itself, since it has no other network in here. */
export const nodeAddress = thisNode.address;
/** The address of the API server's service: the first of its range, which its certificate names. */
export const serviceAddress = "10.0.0.1";
/** A bridge on the first node, and the end of a cable to it on the second. */
export const nodeLink = "node0";

/**
 * The machine the cluster runs on: this process was started in mount, network, process and host name namespaces of its
 * own (scripts/e2e.ts), so default paths and ports can be used, and all of it goes when the process goes.
 */
export class Machine {
  readonly folder: string;
  readonly logFolder: string;
  readonly #bootId: string;

  private constructor(folder: string, logFolder: string) {
    this.folder = folder;
    this.logFolder = logFolder;
    this.#bootId = join(folder, "boot-id");
  }

  static make(folder: string, logFolder = join(folder, "logs")): Machine {
    if (process.ppid !== 1) throw new Error("The tests must be started by scripts/e2e.ts, in namespaces of their own");
    const machine = new Machine(folder, logFolder);
    run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run");
    for (const top of ["/etc", "/opt", "/var"]) machine.#overlay(top);
    for (const path of nodeFolders) machine.#bind(path);
    machine.newBootId();
    run("mount", "--bind", machine.#bootId, bootIdFile);
    run("hostname", nodeName);
    machine.#network();
    machine.#cgroups();
    // As systemd has it on every node: the hand's view of the host must follow the host's mounts.
    run("mount", "--make-rshared", "/");
    return machine;
  }

  path(...parts: readonly string[]): string {
    return join(this.folder, ...parts);
  }

  /** Replaces the kernel's boot ID: a reboot without a reboot. */
  newBootId(): void {
    writeFileSync(this.#bootId, `${randomUUID()}\n`);
  }

  /** The name of our cgroup in each hierarchy. The second node's is in that of the first, as their folders are. */
  get cgroup(): string {
    return this.folder.slice(this.folder.lastIndexOf(`/${folderPrefix}`));
  }

  /** A cgroup below ours with a memory limit; its path. */
  memoryCgroup(name: string, bytesMax: number): string {
    const path = `/sys/fs/cgroup/memory${this.cgroup}/${name}`;
    mkdirSync(path, { recursive: true });
    writeFileSync(`${path}/memory.limit_in_bytes`, String(bytesMax));
    return path;
  }

  /** The same for processor time, in thousandths of a processor. */
  cpuCgroup(name: string, milliMax: number): string {
    const path = `/sys/fs/cgroup/cpu${this.cgroup}/${name}`;
    mkdirSync(path, { recursive: true });
    writeFileSync(`${path}/cpu.cfs_period_us`, "100000");
    writeFileSync(`${path}/cpu.cfs_quota_us`, String(milliMax * 100));
    return path;
  }

  /** No cgroup survives a boot. The kubelet looks at each it finds for three seconds. */
  removePodCgroups(): void {
    for (const hierarchy of readdirSync("/sys/fs/cgroup")) {
      const path = `/sys/fs/cgroup/${hierarchy}${this.cgroup}/kubepods`;
      if (existsSync(path)) run("find", path, "-depth", "-type", "d", "-exec", "rmdir", "{}", ";");
    }
  }

  /** So that folders that the machine does not have can be made without making them. */
  #overlay(top: string): void {
    const upper = this.path("overlay", top, "upper");
    const work = this.path("overlay", top, "work");
    for (const path of [upper, work]) mkdirSync(path, { recursive: true });
    run("mount", "-t", "overlay", "overlay", "-o", `lowerdir=${top},upperdir=${upper},workdir=${work}`, top);
  }

  #bind(path: string): void {
    const own = this.path("node", path);
    for (const folder of [own, path]) mkdirSync(folder, { recursive: true });
    run("mount", "--bind", own, path);
  }

  #network(): void {
    run("ip", "link", "set", "lo", "up");
    run("ip", "addr", "add", `${serviceAddress}/32`, "dev", "lo");
    // The first node has put the cable of the second in place.
    if (thisNode === nodes[0]) run("ip", "link", "add", nodeLink, "type", "bridge");
    run("ip", "addr", "add", `${nodeAddress}/24`, "dev", nodeLink);
    run("ip", "link", "set", nodeLink, "up");
    run("ip", "route", "add", "default", "dev", nodeLink);
  }

  /** The kubelet wants its root cgroup to be there in every hierarchy. */
  #cgroups(): void {
    for (const hierarchy of readdirSync("/sys/fs/cgroup")) {
      const path = `/sys/fs/cgroup/${hierarchy}${this.cgroup}`;
      mkdirSync(path, { recursive: true });
      if (hierarchy !== "cpuset") continue;
      for (const file of ["cpuset.cpus", "cpuset.mems"])
        writeFileSync(`${path}/${file}`, run("cat", `/sys/fs/cgroup/cpuset/${file}`));
    }
  }

  /** Forgets a folder's content but not the folder, which is a mount point. */
  static empty(path: string): void {
    for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true, force: true });
  }
}
