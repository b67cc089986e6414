import type { Document } from "yaml";
import { readObjects, renderFolder, type Read } from "./kustomization.ts";
import { manifest } from "./manifest.ts";

const apps = "deploy/gitops/apps";
const example = "examples/prod-vlan57";
const waveKey = "argocd.argoproj.io/sync-wave";
const optionsKey = "argocd.argoproj.io/sync-options";

/** One order for all Applications, so that a person needs to know one table: docs/gitops.md. */
export const syncWaves = { definitions: -2, ground: -1, operator: 0, resources: 1, networks: 2, machines: 3 } as const;

type Wave = keyof typeof syncWaves;

/** The wave of each kind that we ship, and what Argo CD must know about it. */
const kinds: Readonly<Record<string, readonly [Wave, string?]>> = {
  // Their objects go with them: every network, every Decision.
  CustomResourceDefinition: ["definitions", "Prune=false,Delete=false"],
  Namespace: ["ground", "Prune=confirm,Delete=confirm"],
  ServiceAccount: ["ground"],
  ClusterRole: ["ground"],
  ClusterRoleBinding: ["ground"],
  Role: ["ground"],
  RoleBinding: ["ground"],
  ValidatingAdmissionPolicy: ["ground"],
  ValidatingAdmissionPolicyBinding: ["ground"],
  ConfigMap: ["ground"],
  // Without the daemon no pod of its node starts: docs/install.md, "Taking it away".
  DaemonSet: ["operator", "Prune=confirm,Delete=confirm"],
  Deployment: ["operator"],
  // Their definitions belong to another Application, which may be synced later.
  PodMonitor: ["resources", "SkipDryRunOnMissingResource=true"],
  PrometheusRule: ["resources", "SkipDryRunOnMissingResource=true"],
  NetworkAttachmentDefinition: ["networks", "Prune=confirm,SkipDryRunOnMissingResource=true"],
  // The machines' wave waits until it is healthy: until the host's work is done on every node.
  NetworkReadiness: ["networks", "SkipDryRunOnMissingResource=true"],
  // In one wave with its machine: a claim that waits for its first consumer is never healthy before it.
  PersistentVolumeClaim: ["machines", "Prune=false,Delete=false"],
  VirtualMachine: ["machines", "Prune=confirm,Delete=confirm,SkipDryRunOnMissingResource=true"],
};

/** What is ours in the folders that Argo CD reads: the manifests of deploy/ and of the example, in waves. */
export function gitopsFiles(read: Read): ReadonlyMap<string, string> {
  const folder = (source: string): string => inWaves(source, renderFolder(source, read));
  const files = (...names: readonly string[]): string =>
    inWaves(
      example,
      names.flatMap((name) => readObjects(`${example}/${name}`, read)),
    );
  return new Map([
    [`${apps}/levee/definitions.yaml`, folder("deploy/crd")],
    [`${apps}/levee/levee.yaml`, folder("deploy/base")],
    [`${apps}/levee/guard.yaml`, folder("deploy/guard")],
    [`${apps}/monitoring/alerts.yaml`, folder("deploy/alerts")],
    [`${apps}/monitoring/boards.yaml`, folder("deploy/grafana")],
    [`${apps}/kubevirt-vms/networks.yaml`, files("network.yaml", "readiness.yaml")],
    [`${apps}/kubevirt-vms/machines.yaml`, files("root-disk.yaml", "virtual-machine.yaml")],
  ]);
}

function inWaves(source: string, objects: readonly Document[]): string {
  for (const object of objects) {
    const kind = String(object.get("kind"));
    const [wave, options] = kinds[kind] ?? [];
    if (wave === undefined) throw new Error(`Cannot render ${apps}: ${kind} of ${source} has no sync wave`);
    object.setIn(["metadata", "annotations", waveKey], String(syncWaves[wave]));
    if (options !== undefined) object.setIn(["metadata", "annotations", optionsKey], options);
  }
  return manifest(`# Rendered by \`npm run deploy:render\` from ${source}. Edit that.\n`, objects);
}
