import type { DaemonSetFacts, GitFileFacts, World } from "./facts/world.ts";
import { blobSha } from "./git/blob-sha.ts";
import { minuteMs, nowMs, outagePods, stuckPod, world } from "./world.fixture.ts";

export const multus: DaemonSetFacts = {
  namespace: "kube-system",
  name: "kube-multus-ds",
  uid: "uid-multus",
  desired: 3,
  ready: 1,
  containers: [{ name: "kube-multus", memoryLimit: "50Mi", memoryRequest: "50Mi" }],
  trackedBy: "infra-multus",
  instance: "",
  updatesOnDelete: false,
};

const manifest = `# Multus, as it was installed.
kind: DaemonSet
metadata: {name: kube-multus-ds, namespace: kube-system}
spec:
  template:
    spec:
      containers:
        - name: kube-multus
          resources:
            limits:
              memory: "50Mi" # the upstream default
            requests: {cpu: 100m, memory: 50Mi}
`;
const bytes = new TextEncoder().encode(manifest);

export const multusFile: GitFileFacts = {
  repository: "https://git.example/infra.git",
  ref: "main",
  path: "apps/multus/multus.yaml",
  blobSha: blobSha(bytes, 40),
  bytes,
};

/** The outage that the guard is built for, with the test's changes. */
export function outage(facts: Partial<World> = {}): World {
  return world({
    pods: [
      ...outagePods(219),
      ...["rke2-agent1", "rke2-agent2", "rke2-agent3"].map((node) =>
        stuckPod(`kube-multus-ds-${node}`, {
          namespace: "kube-system",
          owner: "DaemonSet/kube-multus-ds",
          shape: "",
          phase: "Running",
          node,
          everRan: true,
          restarts: 276,
          oomKilledMs: nowMs - minuteMs,
        }),
      ),
      stuckPod("traefik-6f9c-abcde", {
        namespace: "kube-system",
        owner: "ReplicaSet/traefik-6f9c",
        shape: "",
        boundMs: nowMs - 10 * minuteMs,
      }),
      // Other pods of the namespace, which the guard must leave alone.
      stuckPod("operator", { owner: "ReplicaSet/operator-1", shape: "", phase: "Running", everRan: true }),
      stuckPod("debug", { shape: "labels 1 spec 2", clientSays: "kubectl-run" }),
      stuckPod("nightly-1", { owner: "Job/nightly", shape: "" }),
      stuckPod("static", { isMirror: true }),
    ],
    daemonSets: [multus],
    deployments: [{ namespace: "kube-system", name: "traefik", desired: 2, available: 0, uid: "uid-traefik" }],
    services: [
      { namespace: "kube-system", name: "traefik", readyEndpoints: 0 },
      { namespace: "shop", name: "web", readyEndpoints: 0 },
    ],
    applications: [
      {
        namespace: "argocd",
        name: "infra-multus",
        project: "default",
        sync: "Unknown",
        comparisonErrorMs: nowMs - 5 * minuteMs,
        isAutomated: true,
        skipsReconcile: false,
        source: { repository: multusFile.repository, path: "apps/multus", revision: "main", isPlain: true },
        owns: ["kube-system/kube-multus-ds"],
      },
    ],
    projects: [{ namespace: "argocd", name: "default", syncWindows: [], sourceNamespaces: [] }],
    gitFiles: [multusFile],
    ...facts,
  });
}
