import type { LintCode } from "../../lint/lint-codes.ts";
import type { LintCluster, LintNode } from "../../lint/lint-objects.ts";

/** A file that breaks a rule, and one that nearly does. */
export interface LintCase {
  readonly code: LintCode;
  readonly what: string;
  readonly broken: string;
  readonly near: string;
  /** Line and column of the finding in `broken`. */
  readonly at?: string;
  readonly cluster?: Partial<LintCluster>;
}

/** A network in a block text: line 6, column 5 is the first character of the configuration. */
export function network(config: string, facts: { readonly name?: string; readonly annotations?: string } = {}): string {
  const body = config
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
  return `apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: ${facts.name ?? "lan"}, namespace: prod, annotations: {${facts.annotations ?? ""}}}
spec:
  config: |
${body}
`;
}

/** One plugin with a version. */
export function plugin(members: string): string {
  return network(`{"cniVersion": "1.0.0",\n${members}}`);
}

export function ipam(members: string, type = "bridge"): string {
  return plugin(`"type": "${type}", "ipam": {${members}}`);
}

function pod(annotation: string, namespace = "prod"): string {
  return `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ${namespace}}
spec: {replicas: 5, template: {metadata: {annotations: {k8s.v1.cni.cncf.io/networks: '${annotation}'}}}}
`;
}

function daemonSet(placing = ""): string {
  return `---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: prod}
spec: {template: {metadata: {annotations: {k8s.v1.cni.cncf.io/networks: lan}}, spec: {${placing}}}}
`;
}

function node(name: string, facts: Partial<LintNode> = {}): LintNode {
  return { name, addresses: [], resources: [], podsMax: undefined, isTainted: false, ...facts };
}

const threeNodes = ["a", "b", "c"].map((name) => node(name));

const macvlan = '"type": "macvlan", "master": "eth1"';
const hostLocal = (range: string): string => `"ipam": {"type": "host-local", "subnet": "10.1.0.0/24", ${range}}`;

const reading: readonly LintCase[] = [
  {
    code: "LVN0101",
    what: "a document that is not YAML",
    broken: `kind: NetworkAttachmentDefinition\nmetadata: {name: a\nspec: [\n`,
    near: network('{"cniVersion": "1.0.0", "type": "bridge"}'),
  },
  {
    code: "LVN0102",
    what: "a template of Helm",
    broken: `kind: NetworkAttachmentDefinition\nmetadata:\n  {{- include "x" . | nindent 2 }}\n`,
    near: network('{"cniVersion": "1.0.0", "type": "bridge", "bridge": "{{ x }}"}'),
  },
  {
    code: "LVN0201",
    what: "a comma too many",
    broken: network('{"cniVersion": "1.0.0",\n "type": "bridge",}'),
    near: network('{"cniVersion": "1.0.0",\n "type": "bridge"}'),
    at: "7:23",
  },
  {
    code: "LVN0202",
    what: "an object instead of a text",
    broken:
      "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: a}\nspec:\n  config: {type: bridge}\n",
    near: 'apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: a}\nspec:\n  config: \'{"type": "bridge"}\'\n',
    at: "5:11",
  },
  {
    code: "LVN0203",
    what: "no configuration",
    broken: "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: a}\n",
    near: network('{"cniVersion": "1.0.0", "type": "bridge"}'),
  },
  {
    code: "LVN0204",
    what: "a key twice, in another case",
    broken: plugin('"type": "bridge", "mtu": 1,\n"MTU": 2'),
    near: plugin('"type": "tuning", "sysctl": {"a": "1", "A": "2"}'),
    at: "8:5",
  },
  {
    code: "LVN0205",
    what: "plugins without a type",
    broken: network('{"cniVersion": "1.0.0", "plugins": [{"type": "bridge"},\n  {"typ": "tuning"}]}'),
    near: network('{"cniVersion": "1.0.0", "plugins": [{"type": "bridge"},\n  {"type": "tuning"}]}'),
    at: "7:7",
  },
  {
    code: "LVN0205",
    what: "neither type nor plugins",
    broken: network('{"cniVersion": "1.0.0", "Plugins": [{"type": "bridge"}]}'),
    near: network('{"cniVersion": "1.0.0", "plugins": [{"type": "bridge"}]}'),
  },
  {
    code: "LVN0205",
    what: "a path as type",
    broken: plugin('"type": "../bin/sh"'),
    near: plugin('"type": "sh"'),
    at: "7:13",
  },
  {
    code: "LVN0205",
    what: "a type beside a list of plugins",
    broken: network('{"cniVersion": "1.0.0", "type": "bridge",\n "plugins": [{"type": "bridge"}]}'),
    near: network('{"cniVersion": "1.0.0", "type": "",\n "plugins": [{"type": "bridge"}]}'),
    at: "7:6",
  },
  {
    code: "LVN0206",
    what: "a version that does not exist",
    broken: network('{"cniVersion": "1.2.0", "type": "bridge"}'),
    near: network('{"cniVersion": "1.2.0", "cniVersions": ["1.1.0"], "type": "bridge"}'),
    at: "6:20",
  },
  {
    code: "LVN0207",
    what: "no version",
    broken: network('{"type": "bridge"}'),
    near: network('{"cniVersions": ["1.0.0"], "type": "bridge"}'),
    at: "6:5",
  },
  {
    code: "LVN0208",
    what: "a name that is no file name",
    broken: plugin('"name": "a/b", "type": "bridge"'),
    near: plugin('"name": "a_b", "type": "bridge"'),
    at: "7:13",
  },
  {
    code: "LVN0209",
    what: "another name",
    broken: plugin('"name": "other", "type": "bridge"'),
    near: plugin('"name": "other", "type": "ovn-k8s-cni-overlay"'),
    at: "7:13",
  },
];

const keys: readonly LintCase[] = [
  {
    code: "LVN0301",
    what: "a misspelt key",
    broken: plugin('"type": "bridge",\n"vlna": 5'),
    near: plugin('"type": "bridge",\n"VLAN": 5'),
    at: "8:5",
  },
  {
    code: "LVN0301",
    what: "a misspelt key inside ipam",
    broken: ipam('"type": "host-local", "ranges": [[{"subnet": "10.1.0.0/24",\n"range_start": "10.1.0.5"}]]'),
    near: ipam('"type": "host-local", "ranges": [[{"subnet": "10.1.0.0/24",\n"rangeStart": "10.1.0.5"}]]'),
    at: "8:5",
  },
  {
    code: "LVN0302",
    what: "a key of another plugin",
    broken: plugin('"type": "macvlan", "isGateway": true'),
    near: plugin('"type": "our-own-plugin", "isGateway": true, "_why": "x"'),
    at: "7:24",
  },
  {
    code: "LVN0303",
    what: "a number in quotes",
    broken: plugin('"type": "bridge", "mtu": "1500"'),
    near: plugin('"type": "bridge", "mtu": 1500, "vlan": null'),
    at: "7:30",
  },
  {
    code: "LVN0303",
    what: "a number too large for any plugin",
    broken: plugin('"type": "bridge", "mtu": 1e999'),
    near: plugin('"type": "bond", "miimon": "100"'),
  },
  {
    code: "LVN0304",
    what: "an unknown mode",
    broken: plugin('"type": "macvlan", "mode": "vlan"'),
    near: plugin('"type": "ipvlan", "mode": "l3s"'),
    at: "7:32",
  },
  {
    code: "LVN0401",
    what: "VLAN 4095",
    broken: plugin('"type": "vlan", "master": "eth0", "vlanId": 4095'),
    near: plugin('"type": "bridge", "vlan": 0'),
    at: "7:49",
  },
  {
    code: "LVN0401",
    what: "half a range of a trunk",
    broken: plugin('"type": "bridge", "vlanTrunk": [{"minID": 5}]'),
    near: plugin('"type": "bridge", "vlanTrunk": [{"minID": 5, "maxID": 7}, {"id": 4094}]'),
  },
  {
    code: "LVN0402",
    what: "the port's VLAN in its trunk",
    broken: plugin('"type": "bridge", "vlan": 6, "vlanTrunk": [{"minID": 5, "maxID": 7}]'),
    near: plugin('"type": "bridge", "vlan": 8, "vlanTrunk": [{"minID": 5, "maxID": 7}]'),
  },
  {
    code: "LVN0403",
    what: "a port's own VLAN beside a trunk, which older programs refuse",
    broken: plugin('"type": "bridge", "vlan": 8, "vlanTrunk": [{"minID": 5, "maxID": 7}]'),
    near: plugin('"type": "bridge", "vlan": 0, "vlanTrunk": [{"minID": 5, "maxID": 7}]'),
    at: "7:23",
  },
  {
    code: "LVN0403",
    what: "the same for the bridge plugin of KubeVirt's addons, and an empty trunk",
    broken: plugin('"type": "cnv-bridge", "VLAN": 8, "vlanTrunk": [{"id": 5}]'),
    near: plugin('"type": "cnv-bridge", "vlan": 8, "vlanTrunk": []'),
  },
  {
    code: "LVN0403",
    what: "the same in a trunk that has the ID as well, and not for ovs",
    broken: plugin('"type": "bridge", "vlan": 8, "vlanTrunk": [{"id": 8}]'),
    near: plugin('"type": "ovs", "vlan": 8, "trunk": [{"id": 5}]'),
  },
];

const addresses: readonly LintCase[] = [
  {
    code: "LVN0501",
    what: "host bits",
    broken: ipam('"type": "host-local", "subnet": "10.1.0.1/24"'),
    near: ipam('"type": "whereabouts", "range": "10.1.0.1/24"'),
    at: "7:64",
  },
  {
    code: "LVN0501",
    what: "an end outside of the subnet",
    broken: ipam('"type": "host-local", "subnet": "10.1.0.0/24", "rangeEnd": "10.1.1.1"'),
    near: ipam('"type": "host-local", "subnet": "10.1.0.0/23", "rangeEnd": "10.1.1.1"'),
  },
  {
    code: "LVN0501",
    what: "a gateway that pods cannot reach",
    broken: ipam('"type": "static", "addresses": [{"address": "10.1.0.5/24", "gateway": "10.2.0.1"}]'),
    near: ipam('"type": "static", "addresses": [{"address": "fd00::5/64", "gateway": "fe80::1"}]'),
  },
  {
    code: "LVN0501",
    what: "ranges of one network that overlap",
    broken: ipam('"type": "host-local", "ranges": [[{"subnet": "10.1.0.0/24"}], [{"subnet": "10.1.0.128/25"}]]'),
    near: ipam('"type": "host-local", "ranges": [[{"subnet": "10.1.0.0/25"}], [{"subnet": "10.1.0.128/25"}]]'),
  },
  {
    code: "LVN0501",
    what: "a start behind the end",
    broken: ipam('"type": "whereabouts", "range": "10.1.0.9-10.1.0.5/24"'),
    near: ipam('"type": "whereabouts", "range": "10.1.0.5-10.1.0.9/24"'),
  },
  {
    code: "LVN0502",
    what: "host-local behind macvlan",
    broken: plugin(`${macvlan}, ${hostLocal('"dataDir": "/x"')}`),
    near: plugin(`"type": "bridge", "isGateway": true, ${hostLocal('"dataDir": "/x"')}`),
  },
  {
    code: "LVN0503",
    what: "two networks on one VLAN",
    broken: `${network(`{"cniVersion": "1.0.0", "type": "macvlan", "master": "eth1.57", ${hostLocal('"rangeEnd": "10.1.0.100"')}}`)}---
${network(`{"cniVersion": "1.0.0", "type": "vlan", "master": "eth1", "vlanId": 57, "ipam": {"type": "whereabouts", "range": "10.1.0.64/26"}}`, { name: "b" })}`,
    near: `${network(`{"cniVersion": "1.0.0", "type": "macvlan", "master": "eth1.57", ${hostLocal('"rangeEnd": "10.1.0.63"')}}`)}---
${network(`{"cniVersion": "1.0.0", "type": "vlan", "master": "eth1", "vlanId": 57, "ipam": {"type": "whereabouts", "range": "10.1.0.64/26"}}`, { name: "b" })}`,
  },
  {
    code: "LVN0503",
    what: "two pools of whereabouts that do not know of each other",
    broken: [0, 1]
      .map((at) =>
        network(
          `{"cniVersion": "1.0.0", ${macvlan}, "ipam": {"type": "whereabouts", "enable_overlapping_ranges": false, "range": "10.1.0.0/2${at + 4}"}}`,
          { name: `n${at}` },
        ),
      )
      .join("---\n"),
    near: [0, 1]
      .map((at) =>
        network(
          `{"cniVersion": "1.0.0", ${macvlan}, "ipam": {"type": "whereabouts", "range": "10.1.0.0/2${at + 4}"}}`,
          { name: `n${at}` },
        ),
      )
      .join("---\n"),
  },
  {
    code: "LVN0504",
    what: "the pods' own addresses",
    broken: ipam('"type": "whereabouts", "range": "10.42.7.0/24"'),
    near: ipam('"type": "whereabouts", "range": "10.43.7.0/24"'),
    cluster: { podCidrs: ["10.42.0.0/16"] },
  },
  {
    code: "LVN0504",
    what: "a node's address",
    broken: ipam('"type": "whereabouts", "range": "10.1.0.0/24"'),
    near: ipam('"type": "whereabouts", "range": "10.1.0.0/24", "exclude": ["10.1.0.9/32"]'),
    cluster: { nodes: [node("a", { addresses: ["10.1.0.9"] })] },
  },
  {
    code: "LVN0505",
    what: "five pods and two addresses",
    broken: ipam('"type": "whereabouts", "range": "10.1.0.0/30"').concat(pod("lan")),
    near: ipam('"type": "whereabouts", "range": "10.1.0.0/29"').concat(pod("lan")),
  },
  {
    code: "LVN0505",
    what: "a DaemonSet on three nodes and two addresses",
    broken: ipam('"type": "whereabouts", "range": "10.1.0.0/30"').concat(daemonSet()),
    // On how many nodes a selector lets it, the file does not say.
    near: ipam('"type": "whereabouts", "range": "10.1.0.0/30"').concat(daemonSet("nodeSelector: {disk: ssd}")),
    cluster: { nodes: threeNodes },
  },
  {
    code: "LVN0505",
    what: "a DaemonSet on two nodes, as the third is tainted",
    broken: ipam('"type": "whereabouts", "range": "10.1.0.5/32"').concat(daemonSet()),
    near: ipam('"type": "whereabouts", "range": "10.1.0.0/30"').concat(daemonSet()),
    cluster: { nodes: [node("a"), node("b"), node("c", { isTainted: true })] },
  },
  {
    code: "LVN0505",
    what: "five pods and one address of host-local on each of three nodes",
    broken: ipam('"type": "host-local", "subnet": "10.1.0.0/30"').concat(pod("lan")),
    near: ipam('"type": "host-local", "subnet": "10.1.0.0/29"').concat(pod("lan")),
    cluster: { nodes: threeNodes },
  },
  {
    code: "LVN0505",
    what: "a node that takes more pods than host-local has addresses there",
    broken: ipam('"type": "host-local", "subnet": "10.1.0.0/25"'),
    near: ipam('"type": "host-local", "ranges": [[{"subnet": "10.1.0.0/25"}, {"subnet": "10.1.0.128/25"}]]'),
    cluster: { nodes: [node("a", { podsMax: 110 }), node("b", { podsMax: 250 }), node("c")] },
  },
  {
    code: "LVN0601",
    what: "a default route",
    broken: ipam('"type": "host-local", "subnet": "10.1.0.0/24", "routes": [{"dst": "0.0.0.0/0"}]'),
    near: ipam('"type": "host-local", "subnet": "10.1.0.0/24", "routes": [{"dst": "0.0.0.0/0", "table": 100}]'),
  },
  {
    code: "LVN0601",
    what: "a default gateway, and the default network",
    broken: plugin('"type": "bridge", "isDefaultGateway": true'),
    near: plugin('"type": "bridge", "isDefaultGateway": true').concat(
      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: {v1.multus-cni.io/default-network: prod/lan}}\n",
    ),
  },
  {
    code: "LVN0602",
    what: "two default routes",
    broken: ipam('"type": "static", "routes": [{"dst": "0.0.0.0/0"}, {"dst": "0.0.0.0/0", "gw": "10.1.0.1"}]'),
    near: ipam('"type": "static", "routes": [{"dst": "0.0.0.0/0"}, {"dst": "::/0"}]'),
  },
];

const portMappings = '[{"name": "lan", "portMappings": [{"hostPort": 8080, "containerPort": 80, "protocol": "tcp"}]}]';
const guid = '[{"name": "lan", "infiniband-guid": "c2:11:22:33:44:55:66:77"}]';
const twoNetworks = [plugin('"type": "macvlan"'), network('{"cniVersion": "1.0.0", "type": "macvlan"}', { name: "b" })];
const defaultRoutes = (first: string, second: string): string =>
  twoNetworks
    .join("---\n")
    .concat(pod(`[{"name": "lan", "default-route": ["${first}"]}, {"name": "b", "default-route": ["${second}"]}]`));

/** A network of devices; the resource may have further annotations behind it. */
const sriovOf = (resource: string): string =>
  network('{"cniVersion": "1.0.0", "type": "sriov"}', { annotations: `k8s.v1.cni.cncf.io/resourceName: ${resource}` });
const claimingPod = (key: string): string =>
  `---
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: prod, annotations: {k8s.v1.cni.cncf.io/networks: lan}}
spec: {resourceClaims: [{name: net, ${key}: claim-b}]}
`;

const uses: readonly LintCase[] = [
  {
    code: "LVN0602",
    what: "a pod that asks two networks for a default route",
    broken: defaultRoutes("10.1.0.1", "10.2.0.1"),
    near: defaultRoutes("10.1.0.1", "fd00::1"),
  },
  {
    code: "LVN0701",
    what: "a resource that no node has",
    broken: sriovOf("a/b"),
    near: sriovOf("a/c"),
    cluster: { nodes: [node("a", { resources: ["a/c"] })], publishedResources: new Set() },
  },
  {
    code: "LVN0701",
    what: "a resource that no device for claims has",
    broken: sriovOf("a/b"),
    near: sriovOf("a/c"),
    cluster: { nodes: [node("a")], publishedResources: new Set(["a/c"]) },
  },
  {
    code: "LVN0701",
    what: "a claim that no pod of the cluster names",
    broken: sriovOf("claim-b"),
    near: sriovOf("claim-c"),
    cluster: { nodes: [node("a")], publishedResources: new Set(), claimNames: new Set(["claim-c"]) },
  },
  {
    code: "LVN0701",
    what: "a claim that no pod of the files names",
    broken: sriovOf("claim-b").concat(claimingPod("resourceClaimTemplateName")),
    near: sriovOf("claim-b").concat(claimingPod("resourceClaimName")),
    cluster: { nodes: [node("a")], publishedResources: new Set(), claimNames: new Set() },
  },
  {
    code: "LVN0701",
    what: "a resource that no node has, and no request of the pod's claim",
    broken: sriovOf("a/b"),
    near: sriovOf("a/b, levee.dev/device-request: net/red"),
    cluster: { nodes: [node("a")], publishedResources: new Set() },
  },
  {
    code: "LVN0702",
    what: "bandwidth without the capability",
    broken: plugin('"type": "bridge"').concat(pod('[{"name": "lan", "bandwidth": {"ingressRate": 1}}]')),
    near: plugin('"type": "bandwidth", "capabilities": {"bandwidth": true}').concat(
      pod('[{"name": "lan", "bandwidth": {"ingressRate": 1}}]'),
    ),
  },
  {
    code: "LVN0702",
    what: "port mappings without the capability",
    broken: plugin('"type": "bridge"').concat(pod(portMappings)),
    near: plugin('"type": "portmap", "capabilities": {"portMappings": true}').concat(pod(portMappings)),
  },
  {
    code: "LVN0702",
    what: "a GUID for a plugin that declares another capability",
    broken: plugin('"type": "ib-sriov", "capabilities": {"mac": true}').concat(pod(guid)),
    near: plugin('"type": "ib-sriov", "capabilities": {"infinibandGUID": true}').concat(pod(guid)),
  },
  {
    code: "LVN0702",
    what: "a MAC address that ipvlan cannot give",
    broken: plugin('"type": "ipvlan"').concat(pod('[{"name": "lan", "mac": "02:00:00:00:00:01"}]')),
    near: plugin('"type": "macvlan"').concat(pod('[{"name": "lan", "mac": "02:00:00:00:00:01"}]')),
  },
  {
    code: "LVN0704",
    what: "a network of another namespace",
    broken: pod("other/lan"),
    near: pod("global/lan,mine"),
    cluster: { isolation: { globalNamespaces: ["global"] } },
  },
  {
    code: "LVN0705",
    what: "cilium as a second network",
    broken: plugin('"type": "cilium-cni"').concat(pod("lan")),
    near: plugin('"type": "cilium-cni"'),
  },
  {
    code: "LVN0706",
    what: "an annotation that cannot be read",
    broken: pod("a/b/c"),
    near: pod("a/b@net1"),
    at: "5:86",
  },
  {
    code: "LVN0707",
    what: "a network that does not exist",
    broken: plugin('"type": "bridge"').concat(pod("wan")),
    near: plugin('"type": "bridge"').concat(pod("lan")),
    cluster: { isComplete: true },
  },
];

export const lintCases: readonly LintCase[] = [...reading, ...keys, ...addresses, ...uses];
