import type { Lab } from "../../lab/lab.ts";
import { networksAnnotation, type Event } from "./compat-cluster.ts";

/** Results as plugins print them, and what becomes of them in the pod's annotation and events. */
export interface StatusCase {
  readonly what: string;
  /** By plugin; `NETNS` is the network namespace of the call, `IFNAME` its interface. */
  readonly answers: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** The runtime's conf, when it is not the one with a single inline delegate. */
  readonly confOf?: (lab: Lab) => Readonly<Record<string, unknown>>;
  /** Lines that a plugin runs before it answers. */
  readonly scripts?: Readonly<Record<string, string>>;
  readonly events: number;
}

const inside = { name: "IFNAME", mac: "02:00:00:00:00:01", sandbox: "NETNS" };
const v4 = { address: "10.9.0.2/24", gateway: "10.9.0.1", interface: 0 };
const one = { cniVersion: "1.0.0", interfaces: [inside], ips: [v4] };
const onLan = { [networksAnnotation]: "nets/lan" };
const empty = { cniVersion: "1.0.0" };
/** Writes facts about the device where the plugin is told to. */
const writeDeviceInfo = `file=$(printf '%s' "$stdin" | sed -n 's/.*"CNIDeviceInfoFile": *"\\([^"]*\\)".*/\\1/p')
if [ -n "$file" ]; then mkdir -p "\${file%/*}"; printf '%s' '{"type":"pci","version":"1.1.0","pci":{"pci-address":"0000:00:1f.6","rdma-device":"mlx5_0","pf-pci-address":"0000:00:1f.0"}}' > "$file"; fi`;

export const statusCases: readonly StatusCase[] = [
  { what: "one interface", answers: { first: one }, events: 1 },
  ...["0.3.1", "0.4.0", "1.0.0"].map((cniVersion) => ({
    what: `an interface's MTU in a result of ${cniVersion}`,
    answers: { first: { cniVersion, interfaces: [{ ...inside, mtu: 9000 }] } },
    events: 1,
  })),
  {
    what: "a mac on a network without cniVersion, whose result has no place for it",
    answers: { first: one, second: { cniVersion: "0.1.0", ip4: { ip: "10.9.0.7/24" } } },
    annotations: { [networksAnnotation]: '[{"name":"bare","namespace":"nets","mac":"02:00:00:00:00:0b"}]' },
    events: 2,
  },
  {
    what: "a pod's network whose plugin writes its keys in other letters",
    answers: {
      first: one,
      second: {
        CNIVersion: "1.0.0",
        Interfaces: [{ NAME: "IFNAME", Sandbox: "NETNS" }],
        IPs: [{ Address: "10.9.0.7/24" }],
      },
    },
    annotations: onLan,
    events: 2,
  },
  {
    what: "several interfaces, some of them outside the pod, and addresses that point nowhere",
    answers: {
      first: {
        cniVersion: "1.0.0",
        interfaces: [
          { name: "veth0", mac: "02:00:00:00:00:0f" },
          inside,
          { ...inside, name: "eth7", mac: "02:00:00:00:00:07" },
        ],
        ips: [
          { address: "10.9.0.2/24", gateway: "10.9.0.1", interface: 2 },
          { address: "10.9.0.3/24", interface: 1 },
          { address: "10.9.0.4/24" },
        ],
      },
    },
    events: 1,
  },
  {
    what: "several interfaces, and the gateway's is outside the pod",
    answers: {
      first: {
        cniVersion: "1.0.0",
        interfaces: [{ name: "br0" }, inside],
        ips: [{ address: "10.9.0.3/24", gateway: "10.9.0.1", interface: 0 }],
      },
    },
    events: 1,
  },
  {
    what: "several interfaces without any gateway",
    answers: {
      first: {
        cniVersion: "1.0.0",
        interfaces: [{ name: "br0" }, inside, { ...inside, name: "eth7" }],
        ips: [{ address: "10.9.0.3/24", interface: 2 }],
      },
    },
    events: 1,
  },
  {
    what: "both families, with their default routes",
    answers: {
      first: {
        ...one,
        ips: [
          v4,
          { address: "fd00:9::2/64", gateway: "fd00:9::1", interface: 0 },
          { address: "10.9.1.2/16", interface: 0 },
        ],
        routes: [
          { dst: "0.0.0.0/0", gw: "10.9.0.1" },
          { dst: "::/0", gw: "fd00:9::1" },
          { dst: "10.0.0.0/8", gw: "10.9.0.9" },
          { dst: "0.0.0.0/1", gw: "10.9.0.8" },
        ],
      },
    },
    events: 1,
  },
  {
    what: "an MTU",
    answers: { first: { ...one, cniVersion: "1.1.0", interfaces: [{ ...inside, mtu: 1450 }] } },
    events: 1,
  },
  {
    what: "DNS",
    answers: {
      first: {
        ...one,
        dns: {
          nameservers: ["10.96.0.10", "fd00::a"],
          domain: "a.example",
          search: ["a.example", "<b>&.example"],
          options: ["ndots:5"],
        },
      },
    },
    events: 1,
  },
  {
    what: "two networks, and the default one is marked",
    answers: { first: one, second: { ...one, ips: [{ ...v4, address: "10.8.0.2/24" }] } },
    annotations: onLan,
    events: 2,
  },
  { what: "one interface outside the pod", answers: { first: { ...one, interfaces: [{ name: "veth0" }] } }, events: 1 },
  { what: "no interfaces", answers: { first: { cniVersion: "1.0.0", ips: [{ address: "10.9.0.2/24" }] } }, events: 1 },
  {
    what: "nothing at all from the default network",
    answers: { first: empty, second: one },
    annotations: onLan,
    events: 1,
  },
  { what: "nothing at all from any network", answers: { first: empty, second: empty }, annotations: onLan, events: 0 },
  {
    what: "an old result, with interfaces",
    answers: {
      first: one,
      third: {
        cniVersion: "0.3.1",
        interfaces: [inside],
        ips: [{ version: "4", ...v4 }],
        routes: [{ dst: "0.0.0.0/0", gw: "10.9.0.1" }],
        dns: {},
      },
    },
    annotations: { [networksAnnotation]: "nets/dmz" },
    events: 2,
  },
  {
    what: "a result of 0.2.0, which has no interfaces",
    answers: {
      first: { cniVersion: "0.2.0", ip4: { ip: "10.9.0.2/24", gateway: "10.9.0.1", routes: [{ dst: "0.0.0.0/0" }] } },
    },
    events: 1,
    confOf: (lab) => ({ delegates: [{ cniVersion: "0.2.0", name: "old", ...lab.conf("first") }] }),
  },
  {
    what: "a default network that is a definition",
    answers: { first: one, second: one },
    annotations: { [networksAnnotation]: "nets/dmz" },
    confOf: () => ({ clusterNetwork: "home" }),
    events: 2,
  },
  {
    what: "a device of which the plugin wrote down facts",
    answers: { first: one, third: one },
    annotations: { [networksAnnotation]: '[{"name":"caps","namespace":"nets","deviceID":"0000:00:1f.6"}]' },
    scripts: { "third.ADD": writeDeviceInfo },
    events: 2,
  },
];

/** Multus writes `<nil>` for a gateway that a route does not have; Levee writes none. */
export const routeWithoutGateway: StatusCase = {
  what: "a default route without a gateway",
  answers: { first: { ...one, routes: [{ dst: "0.0.0.0/0" }] } },
  events: 1,
};

/** Has the plugins answer as the case says, in the namespace and with the interface of the call. */
export async function program(lab: Lab, { answers, scripts = {} }: StatusCase): Promise<void> {
  for (const plugin of ["first", "second", "third"]) {
    const answer = answers[plugin];
    const print = `printf '%s' '${JSON.stringify(answer)}' | sed -e "s#IFNAME#$CNI_IFNAME#g" -e "s#NETNS#$CNI_NETNS#g"; exit 0`;
    if (answer === undefined) await lab.unscript(`${plugin}.ADD`);
    else await lab.script(`${plugin}.ADD`, `${scripts[`${plugin}.ADD`] ?? ""}\n${print}`);
  }
}

/** The fields of events that tools read, in the order of their texts. Levee also names the host. */
export function eventFacts(events: readonly Event[]): readonly object[] {
  return events
    .toSorted((a, b) => (a.message < b.message ? -1 : 1))
    .map(({ type, reason, message, source, reportingComponent, involvedObject }) => ({
      ...{ type, reason, message, component: source.component, reportingComponent },
      about: `${involvedObject["apiVersion"]} ${involvedObject["kind"]} ${involvedObject["name"]}`,
    }));
}
