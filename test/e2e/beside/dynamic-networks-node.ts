import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Cluster } from "../cluster.ts";
import { nodeName } from "../machine.ts";
import { applyAll } from "../manifests.ts";
import { containerdSocket } from "../node/containerd.ts";
import { apiHost, apiPort } from "../node/api-server.ts";
import { Program } from "../program.ts";
import { requestToken, serviceAccountFolder, writeServiceAccount } from "../service-account.ts";

export const multusRun = "/run/multus";
const account = { namespace: "kube-system", name: "dynamic-networks-controller" };
const configFile = "/etc/dynamic-networks/config.json";

/** The controller as its manifest runs it, less the container: its rights and its two sockets. */
export async function startDynamicNetworks(cluster: Cluster, folder: string): Promise<Program> {
  await applyAll(cluster.api, rights());
  const token = await requestToken(cluster.api, account, await cluster.nodeReference());
  writeServiceAccount(serviceAccountFolder, { token, caFile: cluster.caFile, namespace: account.namespace });
  mkdirSync("/etc/dynamic-networks", { recursive: true });
  const config = { criSocketPath: containerdSocket, multusSocketPath: `${multusRun}/multus.sock` };
  writeFileSync(configFile, JSON.stringify(config));
  const program = new Program(cluster.machine.logFolder, "dynamic-networks", {
    command: [join(folder, "dynamic-networks-controller"), "-config", configFile, "-v", "5"],
    env: { KUBERNETES_SERVICE_HOST: apiHost, KUBERNETES_SERVICE_PORT: apiPort, NODE_NAME: nodeName },
  });
  program.start();
  return program;
}

function rights(): Parameters<typeof applyAll>[1] {
  const group = "rbac.authorization.k8s.io";
  const { name } = account;
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: account },
    {
      apiVersion: `${group}/v1`,
      kind: "ClusterRole",
      metadata: { name },
      rules: [
        {
          apiGroups: ["k8s.cni.cncf.io"],
          resources: ["network-attachment-definitions"],
          verbs: ["get", "list", "watch"],
        },
        { apiGroups: [""], resources: ["pods", "pods/status"], verbs: ["get", "list", "update", "watch"] },
        { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
      ],
    },
    {
      apiVersion: `${group}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name },
      roleRef: { apiGroup: group, kind: "ClusterRole", name },
      subjects: [{ kind: "ServiceAccount", ...account }],
    },
  ];
}
