import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeAddress, nodeName, type Machine } from "../machine.ts";
import { Program } from "../program.ts";
import { until } from "../until.ts";
import { apiUrl, kubeletToken } from "./api-server.ts";
import { containerdSocket } from "./containerd.ts";

/** Manifests put here are static pods. */
export const staticPodFolder = "/etc/kubernetes/manifests";

export function makeKubelet(machine: Machine, bin: string, caFile: string): Program {
  const folder = machine.path("kubelet");
  mkdirSync(folder, { recursive: true });
  mkdirSync(staticPodFolder, { recursive: true });
  // JSON is YAML.
  writeFileSync(join(folder, "config.yaml"), JSON.stringify(settings(machine), undefined, 2));
  writeFileSync(join(folder, "kubeconfig"), JSON.stringify(kubeconfig(caFile), undefined, 2), { mode: 0o600 });
  return new Program(machine.logFolder, "kubelet", {
    command: [
      join(bin, "kubelet"),
      `--config=${join(folder, "config.yaml")}`,
      `--kubeconfig=${join(folder, "kubeconfig")}`,
      `--hostname-override=${nodeName}`,
      `--node-ip=${nodeAddress}`,
      `--cert-dir=${join(folder, "pki")}`,
      "--v=2",
    ],
  });
}

/** It ends when it finds containerd half started, as after a boot; what supervises it on a real node starts it again. */
export async function startKubelet(kubelet: Program): Promise<void> {
  await until(
    "the kubelet is healthy",
    async () => {
      if (!kubelet.isRunning) kubelet.start();
      return (await fetch("http://127.0.0.1:10248/healthz")).ok || undefined;
    },
    { everyMs: 300 },
  );
}

function settings(machine: Machine): unknown {
  return {
    kind: "KubeletConfiguration",
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    containerRuntimeEndpoint: `unix://${containerdSocket}`,
    cgroupDriver: "cgroupfs",
    cgroupRoot: machine.cgroup,
    failCgroupV1: false,
    failSwapOn: false,
    enforceNodeAllocatable: [],
    localStorageCapacityIsolation: false,
    makeIPTablesUtilChains: false,
    resolvConf: "",
    maxPods: 260,
    registerNode: true,
    staticPodPath: staticPodFolder,
    fileCheckFrequency: "1s",
    // A change of the node's state is seen soon, so tests need not wait long.
    nodeStatusUpdateFrequency: "2s",
    nodeStatusReportFrequency: "10s",
    syncFrequency: "10s",
    // A container that ends is started again after a second; people wait ten seconds, and later minutes.
    featureGates: { KubeletCrashLoopBackOffMax: true },
    crashLoopBackOff: { maxContainerRestartPeriod: "1s" },
    volumePluginDir: machine.path("kubelet/volume-plugins"),
    evictionHard: { "memory.available": "0%" },
    imageGCHighThresholdPercent: 100,
    imageMinimumGCAge: "24h",
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: "AlwaysAllow" },
    address: "127.0.0.1",
    healthzBindAddress: "127.0.0.1",
    readOnlyPort: 0,
  };
}

function kubeconfig(caFile: string): unknown {
  return {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{ name: "e2e", cluster: { "server": apiUrl, "certificate-authority": caFile } }],
    "users": [{ name: "kubelet", user: { token: kubeletToken } }],
    "contexts": [{ name: "e2e", context: { cluster: "e2e", user: "kubelet" } }],
    "current-context": "e2e",
  };
}
