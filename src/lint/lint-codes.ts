/**
 * What `levee lint` looks at. A code never changes its meaning. docs/lint.md has a section for each code, which
 * `npm run check` compares, and `levee explain` prints them. `severity` is the worst that a finding of the code has.
 */
export const lintCodes = {
  LVN0101: {
    severity: "error",
    title: "a document that speaks of networks is YAML",
    means:
      "The document cannot be read: it is not YAML, is nested too deeply, repeats its aliases too often, or the file is too large. The other documents are still looked at.",
    todo: "Correct the file at the line and column of the message.",
  },
  LVN0102: {
    severity: "note",
    title: "a template is rendered before it is looked at",
    means:
      "The document has {{ … }} of Helm or another template language, so it is not YAML or JSON yet. Nothing in it was looked at. A placeholder inside a text of the JSON does no harm.",
    todo: "Lint what comes out: helm template RELEASE CHART | levee lint -",
  },
  LVN0103: {
    severity: "error",
    title: "a kustomization names files that can be read",
    means:
      "levee lint -k reads the resources, components and bases of a kustomization.yaml from the disk. It fetches nothing and applies no patches. An entry that is missing was not looked at; one in another repository is a note.",
    todo: "Correct the entry, or lint the rendered form: kubectl kustomize DIR | levee lint -",
  },
  LVN0104: {
    severity: "warning",
    title: "a network definition is in the files once",
    means: "Two definitions have one namespace and name: the last one applied counts. It is a note in two folders.",
    todo: "Rename or remove one. Lint the folders of several clusters one by one.",
  },
  LVN0201: {
    severity: "error",
    title: "spec.config is JSON",
    means: "Every pod that asks for the network is refused: no plugin gets a configuration that is not JSON.",
    todo: "Correct the text at the line and column of the message. JSON has no comments, no comma after the last member, and double quotes only.",
  },
  LVN0202: {
    severity: "error",
    title: "spec.config is a text",
    means:
      "The API server refuses a network definition whose spec.config is an object. It must be a text that holds JSON.",
    todo: "Put a | behind config: and indent the JSON below it, or put the JSON into single quotes.",
  },
  LVN0203: {
    severity: "note",
    title: "spec.config is there",
    means:
      "Without it, the daemon looks for a file with the network's name in the CNI folder of each node. That is allowed, and often a mistake.",
    todo: "If no such file is meant, add spec.config.",
  },
  LVN0204: {
    severity: "error",
    title: "each key occurs once",
    means:
      "Of two members with one key a plugin takes the last, and says nothing about the other. For a plugin, keys that differ only in upper and lower case are one key.",
    todo: "Remove one of them.",
  },
  LVN0205: {
    severity: "error",
    title: "the configuration names its plugins",
    means:
      "A configuration has either type, for one plugin, or plugins, a list of at least one object with type. A type is the name of a program, never a path.",
    todo: "Add type, or correct plugins.",
  },
  LVN0206: {
    severity: "error",
    title: "cniVersion is one that exists",
    means: "Levee and the plugins refuse a version of the CNI specification that they do not know.",
    todo: "Use 1.0.0, or 1.1.0 if every plugin of the network supports it: levee check node tells.",
  },
  LVN0207: {
    severity: "warning",
    title: "cniVersion is there",
    means:
      "Without it the plugins speak version 0.1.0. Such results have no interfaces, so a MAC address that the pod asks for cannot be checked, network-status has none, and the runtime cannot ask CHECK.",
    todo: 'Add "cniVersion": "1.0.0".',
  },
  LVN0208: {
    severity: "error",
    title: "name can be a file name",
    means:
      "Address plugins and caches make files of the name. It has letters, digits, '_', '.' and '-', begins with a letter or a digit, and has at most 253 characters.",
    todo: "Use the name of the network definition.",
  },
  LVN0209: {
    severity: "note",
    title: "name is the definition's name",
    means:
      "host-local keeps addresses in a folder of the name in the configuration, and events and caches show that one. Two definitions with one name share that folder. It is right where it is meant, as with OVN-Kubernetes.",
    todo: "Leave name out, or give it the name of the definition.",
  },
  LVN0301: {
    severity: "error",
    title: "no key is misspelt",
    means: "Plugins ignore keys that they do not know, as does the API server in spec. The setting has no effect.",
    todo: "Use the key in the message.",
  },
  LVN0302: {
    severity: "warning",
    title: "every key is one that the plugin reads",
    means:
      "The plugin ignores the key. Levee knows the keys of containernetworking/plugins, whereabouts, sriov, ib-sriov, ovs, bond and cnv-bridge. Keys that begin with _ are taken for comments.",
    todo: "Remove the key, or look for the right one in the plugin's documentation. If your release of the plugin is newer and reads it, please report it.",
  },
  LVN0303: {
    severity: "error",
    title: "every value has the kind that the plugin reads",
    means: 'The plugin refuses its whole configuration, such as for "1500" in quotes where it wants a number.',
    todo: "Write the value as the message says.",
  },
  LVN0304: {
    severity: "error",
    title: "a value is one that the plugin knows",
    means: "The plugin refuses other values, or takes them for its default without a word.",
    todo: "Use one of the values in the message.",
  },
  LVN0305: {
    severity: "warning",
    title: "no plugin's name is misspelt",
    means: "The name is nearly that of a plugin. A node without a program of that very name refuses the pods.",
    todo: "Use the name in the message. Nothing is wrong if each node has a program with the name as it is written.",
  },
  LVN0401: {
    severity: "error",
    title: "a VLAN ID is from 1 to 4094",
    means: "0 and 4095 are reserved. As vlan of bridge, ovs or sriov, 0 means no VLAN and is allowed.",
    todo: "Use the ID of the VLAN. A trunk has id, or minID and maxID together.",
  },
  LVN0402: {
    severity: "warning",
    title: "vlan is not in the trunk as well",
    means:
      "The port's own VLAN is untagged, those of the trunk are tagged. One ID cannot be both, and the last one set wins.",
    todo: "Take the ID out of the trunk, or remove vlan.",
  },
  LVN0403: {
    severity: "note",
    title: "a bridge has vlan or vlanTrunk, not both",
    means:
      "The bridge plugin of containernetworking/plugins before 1.8.0 refuses both together, so no pod gets the network there. Since 1.8.0, vlan is the VLAN of untagged frames beside the trunk. The same holds for cnv-bridge, which is made of it.",
    todo: "Nothing if every node has 1.8.0 or newer. Else remove one of them, or install a newer program on each node.",
  },
  LVN0501: {
    severity: "error",
    title: "subnets, ranges and gateways fit together",
    means:
      "The address plugin refuses the configuration, or gives addresses that cannot reach their gateway. host-local wants the subnet's own address (no host bits), a start and an end inside it, and ranges that do not overlap.",
    todo: "Correct the value; the message has the right one where there is only one.",
  },
  LVN0502: {
    severity: "warning",
    title: "host-local serves one node only",
    means:
      "host-local keeps its leases on each node. On a network that several nodes share, as behind macvlan, every node gives the same addresses from the start, and two pods have one address. For a bridge it is a note: it is a fault only if the bridge has an uplink. There is no finding for a bridge with a gateway or with the annotation levee.dev/uplink: none.",
    todo: "Use whereabouts or DHCP, or one definition with a range of its own for each node. With one node, or pinned pods, nothing is wrong.",
  },
  LVN0503: {
    severity: "warning",
    title: "ranges of one network segment do not overlap",
    means:
      "Two definitions give addresses on the same interface and VLAN, from ranges that overlap, and neither knows of the other's leases. Two pods can get one address.",
    todo: "Make the ranges disjoint, or use whereabouts for both with enable_overlapping_ranges.",
  },
  LVN0504: {
    severity: "warning",
    title: "ranges do not overlap those of the cluster",
    means:
      "A pod with the network reaches the addresses of the range over it, and no longer pods, services or nodes with the same addresses.",
    todo: "Use another range, or exclude the addresses of the nodes.",
  },
  LVN0505: {
    severity: "warning",
    title: "a range has enough addresses",
    means:
      "More pods ask for the network than its range has addresses. The last ones are refused; a rolling update needs some more. A range of whereabouts serves the whole cluster, one of host-local each node anew. It is a note where a node takes more pods (status.allocatable.pods) than host-local has addresses there: right as long as the others are on other networks. A DaemonSet counts once per node without taints, and not at all with a node selector or an affinity.",
    todo: "Use a larger range, or fewer pods.",
  },
  LVN0601: {
    severity: "warning",
    title: "an additional network leaves the default route alone",
    means:
      "The network gives the pod a default route beside that of eth0. Traffic to other networks, DNS and the API server may then leave through it. A default network, or one with sbr or vrf in its chain, is not meant.",
    todo: "Name the destinations in routes, or let the pod ask with default-route in its annotation.",
  },
  LVN0602: {
    severity: "error",
    title: "there is one default route",
    means: "Two default routes of one family, in one network or asked for by one pod: which one counts is chance.",
    todo: "Keep one.",
  },
  LVN0701: {
    severity: "warning",
    title: "a node offers the network's resource",
    means:
      "The annotation k8s.v1.cni.cncf.io/resourceName names a resource that no node of the cluster offers. Nor is it that of a device in a ResourceSlice (its attribute k8s.cni.cncf.io/resourceName), or the name of a ResourceClaim that a pod names. Pods that ask for it are never scheduled. Nothing is said where the nodes or the ResourceSlices cannot be read, and of a network with levee.dev/device-request.",
    todo: "kubectl get nodes -o custom-columns=NAME:.metadata.name,RESOURCES:.status.allocatable shows what device plugins offer, kubectl get resourceslices -o yaml what drivers publish for claims. Correct the name, or repair the device plugin or the driver.",
  },
  LVN0702: {
    severity: "error",
    title: "the network can do what the pod asks for",
    means:
      "The pod asks for something that no plugin of the network declares as a capability. Levee refuses port mappings, bandwidth and GUIDs then. For mac and ips it is a warning: they also travel by another way, and a pod that does not get them is refused.",
    todo: 'Add "capabilities": {"…": true} to the plugin that serves it, or remove the request.',
  },
  LVN0703: {
    severity: "warning",
    title: "a network that pods use is not changed or deleted",
    means:
      "Running pods keep the old network; pods that start later get the new one, and both may not fit together. After a delete, pods that restart are refused.",
    todo: "Make a new definition, move the pods to it, then delete the old one. The message names the pods.",
  },
  LVN0704: {
    severity: "error",
    title: "namespace isolation allows the network",
    means:
      "With namespaceIsolation a pod may use networks of its own namespace and of globalNamespaces only. The pod is refused.",
    todo: "Use a network in the pod's namespace, or in one of globalNamespaces.",
  },
  LVN0705: {
    severity: "warning",
    title: "a primary network's plugin is not an additional network",
    means:
      "Plugins such as cilium-cni and calico know one network per pod. As a second one they change the pod's first endpoint, or delete it together with the second (cilium#23483).",
    todo: "Use a plugin that is made for additional networks, such as macvlan, bridge or ipvlan.",
  },
  LVN0706: {
    severity: "error",
    title: "a pod's network annotation can be read",
    means: "A pod with an annotation that cannot be read is refused.",
    todo: "Correct the annotation. The message has the words of Multus.",
  },
  LVN0707: {
    severity: "error",
    title: "the networks that pods ask for exist",
    means: "A pod that asks for a missing network is refused. Only known when the whole cluster is looked at.",
    todo: "Create the network definition, or correct the annotation.",
  },
} as const satisfies Record<string, LintCodeFacts>;

export type LintCode = keyof typeof lintCodes;

interface LintCodeFacts {
  readonly severity: "error" | "warning" | "note";
  /** The state that is wanted. */
  readonly title: string;
  readonly means: string;
  readonly todo: string;
}
