import { dnsKeys, type KeyTable } from "./key-table.ts";

const route: KeyTable = {
  dst: "string",
  gw: "string",
  mtu: "integer",
  advmss: "integer",
  priority: "integer",
  table: "integer",
  scope: "integer",
};

const range: KeyTable = { rangeStart: "string", rangeEnd: "string", subnet: "string", gateway: "string" };
const whereaboutsRange: KeyTable = { range: "string", range_start: "string", range_end: "string", exclude: "list" };

const ipamKeys: Readonly<Record<string, KeyTable>> = {
  "host-local": {
    ...range,
    name: "string",
    routes: [route],
    dataDir: "string",
    resolvConf: "string",
    ranges: [[range]],
  },
  "static": { name: "string", routes: [route], addresses: [{ address: "string", gateway: "string" }], dns: dnsKeys },
  "dhcp": {
    daemonSocketPath: "string",
    provide: [{ option: "any", value: "string", fromArg: "string" }],
    request: [{ skipDefault: "bool", option: "any" }],
    priority: "integer",
  },
  "whereabouts": {
    ...whereaboutsRange,
    name: "string",
    routes: [route],
    addresses: [{ address: "string", gateway: "string" }],
    ipRanges: [whereaboutsRange],
    dns: dnsKeys,
    node_slice_size: "string",
    gateway: "string",
    leader_lease_duration: "integer",
    leader_renew_deadline: "integer",
    leader_retry_period: "integer",
    log_file: "string",
    log_level: "string",
    reconciler_cron_expression: "string",
    enable_overlapping_ranges: "bool",
    sleep_for_race: "integer",
    kubernetes: { kubeconfig: "string", k8s_api_root: "string" },
    configuration_path: "string",
    network_name: "string",
    // Still read, for releases that could keep their pools in etcd.
    datastore: "string",
    etcd_host: "string",
    etcd_username: "string",
    etcd_password: "string",
    etcd_key_file: "string",
    etcd_cert_file: "string",
    etcd_ca_cert_file: "string",
  },
};

/** The address plugins whose keys we know. */
export const knownIpams: readonly string[] = Object.keys(ipamKeys);

/** The keys of an address plugin's `ipam`, or undefined for one that we do not know. */
export function ipamKeysOf(type: string): KeyTable | undefined {
  const own = Object.hasOwn(ipamKeys, type) ? ipamKeys[type] : undefined;
  return own === undefined ? undefined : { type: "string", ...own };
}
