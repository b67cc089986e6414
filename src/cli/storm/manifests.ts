import { site, type OwnNetwork, type StormPaths, type StormPod } from "./site.ts";

/** The plugin's configuration of one of our own networks. */
export function networkConf({ name, bridge, subnet }: OwnNetwork, paths: StormPaths): string {
  return JSON.stringify({
    cniVersion: "1.0.0",
    name,
    type: "bridge",
    bridge,
    // With isGateway the plugin would switch on forwarding on this host.
    isGateway: false,
    ipMasq: false,
    ipam: { type: "host-local", dataDir: paths.ipam, ranges: [[{ subnet }]] },
  });
}

/** The daemon's configuration: all its folders are inside the storm's own. */
export function stormDaemonConfig(paths: StormPaths, clusterNetwork: string, binDir: string): string {
  const config = {
    cniVersion: "1.0.0",
    socketDir: site.runDir,
    stateDir: paths.journal,
    directory: paths.directory,
    clusterNetwork,
    multusNamespace: site.namespaces.networks,
    confDir: paths.confDir,
    cniDir: paths.cniDir,
    binDir,
    // The storm's bridges lead nowhere.
    uplinkGate: 0,
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

/** JSON is YAML, and cheaper to write. */
export function networkManifest(name: string, config: string): string {
  return JSON.stringify({
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    metadata: { name, namespace: site.namespaces.networks },
    spec: { config },
  });
}

export function podManifest({ name, namespace, uid, annotations, priority }: StormPod): string {
  const spec = priority === undefined ? {} : { spec: { priority } };
  return JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace, uid, annotations }, ...spec });
}
