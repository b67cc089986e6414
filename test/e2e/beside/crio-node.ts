import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { librariesIn } from "../../peers/debian-programs.ts";
import type { Cluster } from "../cluster.ts";
import type { Machine } from "../machine.ts";
import { confFolder, listing } from "../networks.ts";
import { pauseImage, type Sandbox } from "../node/containerd.ts";
import { busyboxImages, writeImage } from "../node/image.ts";
import { Program } from "../program.ts";
import { run } from "../run.ts";

const socket = "/run/crio/crio.sock";
const runRoot = "/run/containers/storage";
const prefix = "io.kubernetes.cri-o";

export interface CrioParts {
  /** Folder of CRI-O's own programs. */
  readonly crio: string;
  /** Root of Debian's conmon. */
  readonly conmon: string;
  readonly busybox: string;
}

/** The runtime CRI-O in containerd's place. */
export class CrioNode {
  readonly program: Program;
  readonly #cluster: Cluster;
  readonly #parts: CrioParts;
  /** Its layers cannot be in a folder that is an overlay itself. */
  readonly #root: string;

  constructor(cluster: Cluster, parts: CrioParts) {
    const { machine } = cluster;
    this.#cluster = cluster;
    this.#parts = parts;
    this.#root = machine.path("crio/storage");
    const config = machine.path("crio/crio.conf");
    mkdirSync(this.#root, { recursive: true });
    writeFileSync(config, this.#toml(machine));
    this.program = new Program(machine.logFolder, "crio", {
      command: [join(parts.crio, "crio"), "--config", config, "--config-dir", ""],
    });
  }

  /** Moves the node over to CRI-O: the kubelet of the cluster speaks to it from now on. */
  async takeOver(): Promise<void> {
    const { kubelet, containerd, machine } = this.#cluster;
    await kubelet.stop();
    await containerd.stop();
    this.#loadImages(machine);
    hideUnmountedHugetlb(machine);
    this.#cluster.replaceContainerd(this.program, untilListening);
    await this.#cluster.restartContainerd();
    const file = machine.path("kubelet/config.yaml");
    const settings = JSON.parse(readFileSync(file, "utf8")) as object; // as the cluster wrote it
    writeFileSync(file, JSON.stringify({ ...settings, containerRuntimeEndpoint: `unix://${socket}` }, undefined, 2));
    await this.#cluster.restartKubelet();
  }

  /** All sandboxes of pods that it keeps a namespace for. */
  sandboxes(): readonly Sandbox[] {
    const folder = join(runRoot, "overlay-containers");
    return listing(folder).flatMap((id) => sandboxIn(join(folder, id, "userdata/config.json")));
  }

  /** Nothing can be pulled in here. */
  #loadImages(machine: Machine): void {
    for (const image of busyboxImages(this.#parts.busybox)) {
      const archive = writeImage(machine.path("crio/image"), image);
      const store = `containers-storage:[overlay@${this.#root}+${runRoot}]${image.tag}`;
      run("skopeo", "--insecure-policy", "copy", "--quiet", `docker-archive:${archive}`, store);
    }
  }

  #toml(machine: Machine): string {
    const policy = machine.path("crio/policy.json");
    writeFileSync(policy, JSON.stringify({ default: [{ type: "insecureAcceptAnything" }] }));
    return `[crio]
root = "${this.#root}"
runroot = "${runRoot}"
storage_driver = "overlay"
log_dir = "/var/log/pods"
version_file = "/run/crio/version"
clean_shutdown_file = ""
[crio.api]
listen = "${socket}"
stream_address = "127.0.0.1"
[crio.runtime]
cgroup_manager = "cgroupfs"
conmon_cgroup = "pod"
default_runtime = "runc"
pinns_path = "${join(this.#parts.crio, "pinns")}"
seccomp_profile = "unconfined"
log_level = "info"
[crio.runtime.runtimes.runc]
runtime_path = "${run("which", "runc").trim()}"
monitor_path = "${this.#writeMonitor(machine)}"
monitor_cgroup = "pod"
[crio.image]
pause_image = "${pauseImage}"
pause_command = ""
signature_policy = "${policy}"
[crio.network]
network_dir = "${confFolder}"
plugin_dirs = ["/opt/cni/bin"]
[crio.nri]
enable_nri = false
`;
  }

  /** conmon finds the libraries that came with it. */
  #writeMonitor(machine: Machine): string {
    const script = machine.path("crio/conmon");
    const { conmon } = this.#parts;
    const libraries = `LD_LIBRARY_PATH=${librariesIn(conmon)}`;
    writeFileSync(script, `#!/bin/sh\n${libraries} exec ${join(conmon, "usr/bin/conmon")} "$@"\n`);
    chmodSync(script, 0o755);
    return script;
  }
}

/** It leaves its socket behind when it ends. */
function untilListening(program: Program): Promise<void> {
  return program.untilUp("listens", async () => (await fetch("http://localhost/info", { unix: socket })).ok);
}

/**
 * The kernel of a machine may have the controller for huge pages although nobody has mounted its hierarchy. CRI-O asks
 * only the kernel, and then every container fails on the limit that the kubelet wishes. So the kernel says no here.
 */
function hideUnmountedHugetlb(machine: Machine): void {
  const controllers = "/proc/cgroups";
  const file = machine.path("crio/cgroups");
  writeFileSync(file, readFileSync(controllers, "utf8").replace(/^(?<head>hugetlb\t0\t\d+\t)1$/mu, "$<head>0"));
  run("mount", "--bind", file, controllers);
}

interface Bundle {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly linux?: { readonly namespaces?: readonly { readonly type: string; readonly path?: string }[] };
}

function sandboxIn(file: string): readonly Sandbox[] {
  // It may be just being made or removed.
  if (!existsSync(file)) return [];
  const { annotations = {}, linux } = JSON.parse(readFileSync(file, "utf8")) as Bundle; // a spec of the OCI
  const netns = linux?.namespaces?.find(({ type }) => type === "network")?.path;
  if (annotations[`${prefix}.ContainerType`] !== "sandbox" || netns === undefined || !existsSync(netns)) return [];
  const text = (key: string): string => annotations[`${prefix}.${key}`] ?? "";
  return [{ id: text("ContainerID"), pod: text("KubeName"), namespace: text("Namespace"), netns }];
}
