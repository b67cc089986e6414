/** The manifests of the cluster of the seeds, as far as the guard looks at them. */

export const cniDaemon = { namespace: "kube-system", name: "kube-multus-ds", container: "kube-multus" };
export const cniNodeLabel = { "levee.test/cni": "multus" };
/** The path of the CNI daemon's manifest in git. */
export const cniManifestPath = "apps/multus/multus.yaml";

/** As git has it and as it is applied, comments and all. */
export function cniManifest(limit: string, request = "50Mi"): string {
  return `# The meta plugin of every node.
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: ${cniDaemon.name}
  namespace: ${cniDaemon.namespace}
  annotations:
    argocd.argoproj.io/tracking-id: multus:apps/DaemonSet:${cniDaemon.namespace}/${cniDaemon.name}
spec:
  selector: { matchLabels: { app: multus } }
  template:
    metadata: { labels: { app: multus } }
    spec:
      hostNetwork: true
      nodeSelector: ${JSON.stringify(cniNodeLabel)}
      containers:
        - name: ${cniDaemon.container}
          image: example.com/multus:snapshot-thick
          resources:
            # Upstream's number. Look at the graphs before changing it.
            limits:
              memory: ${limit}
            requests:
              cpu: 100m
              memory: ${request}
`;
}

/** A Deployment that gives up its old pods first, with its Service. */
export function deploymentManifest(namespace: string, name: string, replicas: number): object {
  const labels = { app: name };
  return {
    apiVersion: "v1",
    kind: "List",
    items: [
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name, namespace },
        spec: {
          replicas,
          strategy: { type: "Recreate" },
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: {
              nodeSelector: cniNodeLabel,
              terminationGracePeriodSeconds: 5,
              containers: [{ name: "main", image: "example.com/none" }],
            },
          },
        },
      },
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name, namespace },
        spec: { selector: labels, ports: [{ port: 80 }] },
      },
    ],
  };
}
