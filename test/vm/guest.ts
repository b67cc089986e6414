import type { VirtualMachine } from "./machine/virtual-machine.ts";

/** An interface in a pod, without the loopback. */
interface GuestLink {
  readonly ifname: string;
  readonly mac: string;
  readonly addresses: readonly string[];
  /** Such as macvlan, ipvlan, vlan, veth, vrf. */
  readonly kind: string;
  /** The vrf it belongs to. */
  readonly master: string;
}

export interface GuestSandbox {
  readonly id: string;
  readonly namespace: string;
  readonly pod: string;
  /** The name of its network namespace; "host" on the host's network. */
  readonly netns: string;
  /** By their names. */
  readonly links: readonly GuestLink[];
}

interface GuestLease {
  readonly network: string;
  readonly address: string;
  readonly containerId: string;
}

/** What is on the node, seen without Levee. */
export interface GuestFacts {
  readonly sandboxes: readonly GuestSandbox[];
  readonly leases: readonly GuestLease[];
  /** Ends of cables to pods. */
  readonly veths: readonly string[];
}

export async function guestFacts(machine: VirtualMachine): Promise<GuestFacts> {
  return parseFacts(await machine.shell.run("node-facts"));
}

/** The lines of the script `node-facts`: a sandbox, the JSON of its interfaces, a lease, a cable. */
export function parseFacts(text: string): GuestFacts {
  const sandboxes: GuestSandbox[] = [];
  const leases: GuestLease[] = [];
  const veths: string[] = [];
  for (const line of text.split("\n")) {
    const [what, ...words] = line.split(" ");
    if (what === "sandbox") sandboxes.push(sandboxIn(words));
    else if (what === "lease") leases.push(leaseIn(words));
    else if (what === "veth") veths.push(...words);
    else if (line.startsWith("["))
      sandboxes.push(...sandboxes.splice(-1).map((box) => ({ ...box, links: linksOf(line) })));
  }
  return { sandboxes, leases, veths };
}

function sandboxIn([id = "", namespace = "", pod = "", netns = ""]: readonly string[]): GuestSandbox {
  return { id, namespace, pod, netns, links: [] };
}

function leaseIn([network = "", address = "", containerId = ""]: readonly string[]): GuestLease {
  return { network, address, containerId };
}

interface IpAddress {
  readonly ifname?: string;
  readonly address?: string;
  readonly master?: string;
  readonly linkinfo?: { readonly info_kind?: string };
  readonly addr_info?: readonly { readonly local?: string; readonly scope?: string }[];
}

function linksOf(json: string): readonly GuestLink[] {
  const found = JSON.parse(json) as readonly IpAddress[]; // iproute2's
  return found
    .toSorted((one, other) => (one.ifname ?? "").localeCompare(other.ifname ?? ""))
    .filter(({ ifname }) => ifname !== undefined && ifname !== "lo")
    .map(({ ifname = "", address = "", master = "", linkinfo, addr_info: info = [] }) => ({
      ifname,
      mac: address,
      master,
      kind: linkinfo?.info_kind ?? "",
      addresses: info.filter(({ scope }) => scope === "global").map(({ local = "" }) => local),
    }));
}
