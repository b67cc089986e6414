/** A large cluster as objects: its nodes, its pods with what kubelets write into them, and its networks. */
import { storedMetadata, type StoredObject } from "../console/stored-objects.ts";

export const networksPath = "/apis/k8s.cni.cncf.io/v1/namespaces/networks/network-attachment-definitions";
/** A deployment, not a batch job: so many pods have one owner. */
const podsOfOwner = 50;

export interface ClusterSize {
  readonly nodes: number;
  readonly pods: number;
  readonly networks: number;
}

export function nodeName(at: number): string {
  return `node-${String(at).padStart(4, "0")}`;
}

export function networkName(at: number): string {
  return `net-${String(at).padStart(4, "0")}`;
}

export function podName(at: number): string {
  return `web-${Math.floor(at / podsOfOwner)}-${String(at).padStart(5, "0")}`;
}

export function* clusterObjects({ nodes, pods, networks }: ClusterSize): Generator<StoredObject> {
  for (const namespace of ["networks", "apps"]) {
    const object = { apiVersion: "v1", kind: "Namespace", metadata: storedMetadata(namespace) };
    yield { key: `namespaces/${namespace}`, object };
  }
  for (let at = 0; at < nodes; at += 1) yield nodeObject(nodeName(at));
  for (let at = 0; at < networks; at += 1) yield networkObject(at);
  for (let at = 0; at < pods; at += 1) yield podObject(at, nodes);
}

function nodeObject(name: string): StoredObject {
  const status = { conditions: [{ type: "Ready", status: "True" }], capacity: { cpu: "64", memory: "256Gi" } };
  return { key: `minions/${name}`, object: { apiVersion: "v1", kind: "Node", metadata: storedMetadata(name), status } };
}

/** A VLAN of its own with its addresses, as most definitions are. */
export function networkConfig(at: number, mark: string): string {
  const range = `10.${100 + Math.floor(at / 250)}.${at % 250}`;
  const ipam = {
    type: "whereabouts",
    range: `${range}.0/24`,
    range_start: `${range}.10`,
    range_end: `${range}.250`,
    gateway: `${range}.1`,
    routes: [{ dst: "10.0.0.0/8", gw: `${range}.1` }],
  };
  const plugins = [
    { type: "macvlan", master: `bond0.${1_000 + at}`, mode: "bridge", mtu: 9_000, ipam },
    { type: "tuning", sysctl: { "net.ipv4.conf.IFNAME.arp_filter": "1", "net.ipv4.conf.IFNAME.rp_filter": "2" } },
  ];
  return JSON.stringify({ cniVersion: "1.0.0", name: networkName(at), mark, plugins });
}

function networkObject(at: number): StoredObject {
  const name = networkName(at);
  return {
    key: `k8s.cni.cncf.io/network-attachment-definitions/networks/${name}`,
    object: {
      apiVersion: "k8s.cni.cncf.io/v1",
      kind: "NetworkAttachmentDefinition",
      metadata: { ...storedMetadata(name, "networks"), generation: 1, managedFields: managedBy("argocd", "f:config") },
      spec: { config: networkConfig(at, "made") },
    },
  };
}

function podObject(at: number, nodes: number): StoredObject {
  const name = podName(at);
  const owner = `web-${Math.floor(at / podsOfOwner)}`;
  const network = networkName(at % podsOfOwner);
  return {
    key: `pods/apps/${name}`,
    object: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        ...storedMetadata(name, "apps"),
        labels: { "app.kubernetes.io/name": owner, "pod-template-hash": "6d4cf56db6" },
        annotations: {
          "k8s.v1.cni.cncf.io/networks": `networks/${network}`,
          "k8s.v1.cni.cncf.io/network-status": networkStatus(at, network),
        },
        ownerReferences: [
          { apiVersion: "apps/v1", kind: "ReplicaSet", name: owner, uid: `uid-of-${owner}`, controller: true },
        ],
        managedFields: [...managedBy("kube-controller-manager", "f:containers"), ...managedBy("kubelet", "f:status")],
      },
      spec: podSpec(nodeName(at % nodes)),
      status: podStatus(at),
    },
  };
}

function podSpec(node: string): object {
  const env = Array.from({ length: 8 }, (_, at) => ({ name: `SETTING_${at}`, value: `a value of usual length ${at}` }));
  return {
    nodeName: node,
    serviceAccountName: "default",
    restartPolicy: "Always",
    dnsPolicy: "ClusterFirst",
    schedulerName: "default-scheduler",
    priority: 0,
    containers: [
      {
        name: "main",
        image:
          "registry.example.com/teams/payments/web@sha256:0000000000000000000000000000000000000000000000000000000000000000",
        imagePullPolicy: "IfNotPresent",
        env,
        ports: [{ containerPort: 8_080, protocol: "TCP" }],
        resources: { limits: { memory: "256Mi" }, requests: { cpu: "100m", memory: "128Mi" } },
        livenessProbe: { httpGet: { path: "/healthz", port: 8_080, scheme: "HTTP" }, periodSeconds: 10 },
        volumeMounts: [{ name: "config", mountPath: "/etc/app" }],
        terminationMessagePath: "/dev/termination-log",
        terminationMessagePolicy: "File",
      },
    ],
    volumes: [{ name: "config", configMap: { name: "app", defaultMode: 420 } }],
    tolerations: [
      { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
    ],
  };
}

function podStatus(at: number): object {
  const address = `10.${Math.floor(at / 65_536)}.${Math.floor(at / 256) % 256}.${at % 256}`;
  const time = "2026-01-01T00:00:00Z";
  const types = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];
  return {
    phase: "Running",
    qosClass: "Burstable",
    startTime: time,
    podIP: address,
    podIPs: [{ ip: address }],
    conditions: types.map((type) => ({ type, status: "True", lastProbeTime: null, lastTransitionTime: time })),
    containerStatuses: [
      {
        name: "main",
        ready: true,
        started: true,
        restartCount: 0,
        image: "web",
        imageID: "web",
        state: { running: { startedAt: time } },
      },
    ],
  };
}

function networkStatus(at: number, network: string): string {
  const mac = `02:00:00:00:${(at >> 8).toString(16)}:${(at & 255).toString(16)}`;
  return JSON.stringify([
    { name: "cluster-net", interface: "eth0", ips: ["10.0.0.1"], mac, default: true, dns: {} },
    { name: `networks/${network}`, interface: "net1", ips: ["10.1.0.1"], mac, dns: {} },
  ]);
}

/** As server-side apply writes who set which field: a good part of a real object. */
function managedBy(manager: string, field: string): readonly object[] {
  const fields = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`f:field-${at}`, {}]));
  const time = "2026-01-01T00:00:00Z";
  return [
    { manager, operation: "Update", apiVersion: "v1", time, fieldsType: "FieldsV1", fieldsV1: { [field]: fields } },
  ];
}
