import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Machine } from "../machine.ts";
import { Program } from "../program.ts";
import { run } from "../run.ts";

/** What a sandbox runs. */
export const pauseImage = "levee.test/pause:1";
export const containerdSocket = "/run/containerd/containerd.sock";
const tasks = "/run/containerd/io.containerd.runtime.v2.task/k8s.io";

/** A pod's sandbox, as its runtime bundle tells it. */
export interface Sandbox {
  readonly id: string;
  readonly pod: string;
  readonly namespace: string;
  readonly netns: string;
}

export async function startContainerd(machine: Machine): Promise<Program> {
  const containerd = makeContainerd(machine, "containerd");
  containerd.start();
  await untilServing(containerd);
  return containerd;
}

/** The distribution's, or another one whose programs are in `bin`. */
export function makeContainerd(machine: Machine, name: string, bin?: string): Program {
  const config = machine.path("containerd.toml");
  writeFileSync(config, toml());
  const path = process.env["PATH"] ?? "";
  // containerd finds the program it runs for each sandbox by PATH.
  return new Program(machine.logFolder, name, {
    command: [bin === undefined ? "containerd" : join(bin, "containerd"), "--config", config],
    env: { PATH: bin === undefined ? path : `${bin}:${path}` },
  });
}

export function untilServing(containerd: Program): Promise<void> {
  return containerd.untilUp("answers", async () => {
    if (!existsSync(containerdSocket)) return false;
    ctr("version");
    return true;
  });
}

export function ctr(...args: readonly string[]): string {
  return run("ctr", "--address", containerdSocket, "--namespace", "k8s.io", ...args);
}

/** All sandboxes that have a runtime bundle. */
export function sandboxes(): readonly Sandbox[] {
  return bundles().flatMap(({ id, annotations, linux }) =>
    annotations["io.kubernetes.cri.container-type"] === "sandbox"
      ? [
          {
            id,
            pod: annotations["io.kubernetes.cri.sandbox-name"] ?? "",
            namespace: annotations["io.kubernetes.cri.sandbox-namespace"] ?? "",
            netns: linux?.namespaces?.find(({ type }) => type === "network")?.path ?? "",
          },
        ]
      : [],
  );
}

/** A pod's container whose first process lives. */
export interface RunningContainer {
  readonly id: string;
  readonly pod: string;
  readonly pid: number;
}

/** The running containers of this name in pods of the namespace. */
export function runningContainers(namespace: string, name: string): readonly RunningContainer[] {
  return bundles().flatMap(({ id, annotations }) => {
    if (annotations["io.kubernetes.cri.container-name"] !== name) return [];
    if (annotations["io.kubernetes.cri.sandbox-namespace"] !== namespace) return [];
    const pid = livingPid(id);
    return pid === undefined ? [] : [{ id, pid, pod: annotations["io.kubernetes.cri.sandbox-name"] ?? "" }];
  });
}

function livingPid(id: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(tasks, id, "init.pid"), "utf8"));
    return /^State:\s+[ZX]/mu.test(readFileSync(`/proc/${pid}/status`, "utf8")) ? undefined : pid;
  } catch {
    // It is just being made, or has ended.
    return undefined;
  }
}

interface Bundle {
  readonly id: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly linux?: { readonly namespaces?: readonly { readonly type: string; readonly path?: string }[] };
}

/** What the runtime was told of each container. */
function bundles(): readonly Bundle[] {
  if (!existsSync(tasks)) return [];
  return readdirSync(tasks).flatMap((id) => {
    try {
      const told = JSON.parse(readFileSync(join(tasks, id, "config.json"), "utf8")) as Partial<Bundle>;
      return [{ annotations: {}, ...told, id }];
    } catch {
      // It is just being made or removed.
      return [];
    }
  });
}

function toml(): string {
  mkdirSync("/run/containerd", { recursive: true });
  return `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "${containerdSocket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  # The machine may lack the right to make itself a worse victim, and hierarchies that the tests have no use for.
  restrict_oom_score_adj = true
  disable_hugetlb_controller = true
  tolerate_missing_hugetlb_controller = true
  disable_apparmor = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/opt/cni/bin"
    conf_dir = "/etc/cni/net.d"
`;
}
