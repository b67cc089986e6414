import { dnsKeys, type KeyShape, type KeyTable } from "./key-table.ts";

/**
 * The keys that plugins read, as their own source declares them, and the kind of each value. Facts of
 * containernetworking/plugins (3d27709), whereabouts (3a262bd), sriov-cni (1b7acc5), ib-sriov-cni (543060d),
 * ovs-cni (19262a0) and bond-cni (258926a).
 */
/** What libcni and the runtime put into every plugin's configuration. */
const everyPlugin: KeyTable = {
  cniVersion: "string",
  cniVersions: "list",
  name: "string",
  type: "string",
  capabilities: "object",
  ipam: "object",
  dns: dnsKeys,
  prevResult: "object",
  runtimeConfig: "object",
  args: "object",
  disableCheck: "any",
  disableGC: "any",
};

/** The top of a list, which libcni reads. */
export const listKeys: KeyTable = {
  cniVersion: "string",
  cniVersions: "list",
  name: "string",
  disableCheck: "any",
  disableGC: "any",
  loadOnlyInlinedPlugins: "any",
  plugins: "list",
};

const trunk: KeyShape = [{ minID: "integer", maxID: "integer", id: "integer" }];

const bridge: KeyTable = {
  bridge: "string",
  isGateway: "bool",
  isDefaultGateway: "bool",
  forceAddress: "bool",
  ipMasq: "bool",
  ipMasqBackend: "string",
  mtu: "integer",
  hairpinMode: "bool",
  promiscMode: "bool",
  vlan: "integer",
  vlanTrunk: trunk,
  preserveDefaultVlan: "bool",
  macspoofchk: "bool",
  enabledad: "bool",
  disableContainerInterface: "bool",
  portIsolation: "bool",
};

const tuning: KeyTable = {
  dataDir: "string",
  sysctl: "object",
  mac: "string",
  promisc: "bool",
  mtu: "integer",
  txQLen: "integer",
  allmulti: "bool",
};

const ovs: KeyTable = {
  bridge: "string",
  vlan: "integer",
  mtu: "integer",
  trunk,
  deviceID: "string",
  ofport_request: "integer",
  interface_type: "string",
  configuration_path: "string",
  socket_file: "string",
  link_state_check_retries: "integer",
  link_state_check_interval: "integer",
};

const mirror: KeyTable = {
  bridge: "string",
  configuration_path: "string",
  socket_file: "string",
  mirrors: [{ name: "string", ingress: "bool", egress: "bool" }],
};

const sriov: KeyTable = {
  vlan: "integer",
  vlanQoS: "integer",
  vlanProto: "string",
  deviceID: "string",
  min_tx_rate: "integer",
  max_tx_rate: "integer",
  spoofchk: "string",
  trust: "string",
  link_state: "string",
  logLevel: "string",
  logFile: "string",
  // Fields of the same struct without a key of their own: Go reads them under their name.
  mtu: "integer",
  master: "string",
  mac: "string",
  vfid: "integer",
};

const ownKeys: Readonly<Record<string, KeyTable>> = {
  bridge,
  // The bridge and tuning plugins under the names that OpenShift Virtualization and KubeVirt's operator give them.
  "cnv-bridge": bridge,
  "cnv-tuning": tuning,
  "dummy": {},
  "loopback": {},
  "host-device": {
    device: "string",
    hwaddr: "string",
    kernelpath: "string",
    pciBusID: "string",
    dpdkMode: "bool",
  },
  "ipvlan": { master: "string", mode: "string", mtu: "integer", linkInContainer: "bool" },
  "macvlan": {
    master: "string",
    mode: "string",
    mtu: "integer",
    mac: "string",
    linkInContainer: "bool",
    bcqueuelen: "integer",
  },
  "ptp": { ipMasq: "bool", ipMasqBackend: "string", mtu: "integer" },
  "tap": {
    multiQueue: "bool",
    mtu: "integer",
    mac: "string",
    owner: "integer",
    group: "integer",
    selinuxContext: "string",
    bridge: "string",
  },
  "vlan": { master: "string", vlanId: "integer", mtu: "integer", linkInContainer: "bool" },
  "bandwidth": {
    ingressRate: "integer",
    ingressBurst: "integer",
    egressRate: "integer",
    egressBurst: "integer",
    // Only 1.5.0 and 1.5.1 read these two.
    unshapedSubnets: "list",
    shapedSubnets: "list",
  },
  "firewall": { backend: "string", iptablesAdminChainName: "string", firewalldZone: "string", ingressPolicy: "string" },
  "portmap": {
    backend: "string",
    snat: "bool",
    conditionsV4: "list",
    conditionsV6: "list",
    masqAll: "bool",
    markMasqBit: "integer",
    externalSetMarkChain: "string",
  },
  "sbr": { table: "integer", gateways: "list", addSourceHints: "bool" },
  tuning,
  "vrf": { vrfname: "string", table: "integer" },
  sriov,
  "ib-sriov": {
    deviceID: "string",
    pkey: "string",
    link_state: "string",
    rdmaIsolation: "bool",
    ibKubernetesEnabled: "bool",
    vfioPciMode: "bool",
  },
  ovs,
  "ovs-mirror-producer": mirror,
  "ovs-mirror-consumer": mirror,
  "bond": {
    mode: "string",
    linksInContainer: "bool",
    failOverMac: "integer",
    miimon: "string",
    links: [{ name: "string" }],
    mtu: "integer",
    allSlavesActive: "integer",
    tlbDynamicLb: "integer",
    xmitHashPolicy: "string",
  },
};

/** The plugins whose keys we know. */
export const knownPlugins: readonly string[] = Object.keys(ownKeys);

/** The keys of a plugin, or undefined for one that we do not know. */
export function pluginKeys(type: string): KeyTable | undefined {
  const own = Object.hasOwn(ownKeys, type) ? ownKeys[type] : undefined;
  return own === undefined ? undefined : { ...everyPlugin, ...own };
}

/** Values that a plugin refuses if they are others; the case of letters counts unless the plugin ignores it. */
export const valueLists: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "macvlan": { mode: ["", "bridge", "private", "vepa", "passthru"] },
  "ipvlan": { mode: ["", "l2", "l3", "l3s"] },
  "sriov": {
    spoofchk: ["", "on", "off"],
    trust: ["", "on", "off"],
    link_state: ["", "auto", "enable", "disable"],
    vlanProto: ["802.1q", "802.1Q", "802.1ad", "802.1AD"],
  },
  "ib-sriov": { link_state: ["", "auto", "enable", "disable"] },
  "firewall": { backend: ["", "iptables", "firewalld"], ingressPolicy: ["", "open", "same-bridge", "isolated"] },
};
