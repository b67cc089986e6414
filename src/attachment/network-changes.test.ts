import { describe, expect, test } from "bun:test";
import type { IfName, Namespace, NetworkName } from "../base/brand.ts";
import type { Chain } from "../cni/chain.ts";
import { networkChanges, type NetworkChange } from "./network-changes.ts";
import { parseSelection } from "./selection.ts";

function chain(network: string, ifname: string, change: Partial<Chain> = {}): Chain {
  const multus = { config: "{}" as never, isList: false, capabilityArgs: {}, request: {} };
  const routes = { dropV4: false, dropV6: false, gateways: [] };
  const rest = { confName: network, cniVersion: "1.0.0", isDefault: false, cniArgs: "", links: [], multus, routes };
  const names = { network: network as NetworkName, ifname: ifname as IfName };
  return { ...rest, disableCheck: false, disableGC: false, ...names, ...change };
}

const primary = chain("cluster", "eth0", { isDefault: true });

function changesOf(
  chains: readonly Chain[],
  annotation: string,
  { isImported = false, ofNode = [] as readonly string[] } = {},
): readonly string[] {
  const elements = parseSelection(annotation, "ns" as Namespace);
  return networkChanges({ chains: [primary, ...chains], ofNode: new Set(ofNode), isImported }, elements).map(textOf);
}

function textOf({ leaving, joining }: NetworkChange): string {
  const gone = leaving.map(({ network, ifname }) => `-${network}@${ifname}`);
  const come = joining === undefined ? [] : [`+${joining.element.name}@${joining.ifname}`];
  return [...gone, ...come].join(" ");
}

describe("networkChanges", () => {
  test("finds nothing to do when names are the record's own", () => {
    expect(changesOf([chain("ns/a", "net1"), chain("ns/b", "net2")], "a,b")).toEqual([]);
    expect(changesOf([chain("ns/a", "net1"), chain("ns/b", "net2")], "b,a")).toEqual([]);
    expect(changesOf([chain("ns/a", "net1")], "a@net1")).toEqual([]);
  });

  test("detaches first, then attaches under the name that an ADD would choose", () => {
    expect(changesOf([chain("ns/a", "net1"), chain("ns/b", "net2")], "b,c")).toEqual(["-ns/a@net1", "+c@net3"]);
    expect(changesOf([], "a,b")).toEqual(["+a@net1", "+b@net2"]);
    expect(changesOf([chain("ns/a", "net1")], "a,a")).toEqual(["+a@net2"]);
  });

  test("counts the node's own networks for the name, and leaves them alone", () => {
    const ofNode = chain("kube-system/all", "net1", { isOfNode: true });
    expect(changesOf([ofNode], "a")).toEqual(["+a@net2"]);
    expect(changesOf([ofNode], "[]")).toEqual([]);
    // A record of an older Levee does not mark it.
    const old = chain("kube-system/all", "net1");
    expect(changesOf([old], "[]", { ofNode: ["kube-system/all"] })).toEqual([]);
    expect(changesOf([chain("file", "net1")], "[]")).toEqual([]);
  });

  test("swaps what cannot be there at once: a name, a MAC or an address", () => {
    expect(changesOf([chain("ns/a", "net1")], "b")).toEqual(["-ns/a@net1 +b@net1"]);
    const request = { mac: "02:00:00:00:00:0A", ips: ["10.0.0.5/24"] };
    const held = chain("ns/a", "x", { multus: { ...primary.multus, request } });
    const other = '[{"name":"b","interface":"y","mac":"02:00:00:00:00:0a"}]';
    expect(changesOf([held], other)).toEqual(["-ns/a@x +b@y"]);
    expect(changesOf([held], '[{"name":"b","interface":"y","ips":["10.0.0.5/24"]}]')).toEqual(["-ns/a@x +b@y"]);
    expect(changesOf([held], "b@y")).toEqual(["-ns/a@x", "+b@y"]);
  });

  test("an element with a name takes its chain before one without", () => {
    const chains = [
      chain("ns/a", "net1"),
      chain("ns/a", "x", { multus: { ...primary.multus, request: { ifname: "x" } } }),
    ];
    expect(changesOf(chains, "a,a@x")).toEqual([]);
    expect(changesOf(chains, "a")).toEqual(["-ns/a@x"]);
    expect(changesOf(chains, "a@x")).toEqual(["-ns/a@net1"]);
  });

  test("an attachment of Multus without a namespace in its name stays, and stands for an element", () => {
    const imported = [chain("lan", "net1"), chain("ns/b", "net2")];
    expect(changesOf(imported, "a,b", { isImported: true })).toEqual([]);
    expect(changesOf(imported, "[]", { isImported: true })).toEqual(["-ns/b@net2"]);
  });

  test("knows a network that Multus plugged by its interface: it stays while that is named, and goes with it", () => {
    const multus = { ...primary.multus, request: { ifname: "net7" as IfName } };
    const plugged = [chain("ns/a", "net1"), chain("lan", "net7", { multus })];
    const imported = { isImported: true };
    expect(changesOf(plugged, "a,b@net7", imported)).toEqual([]);
    expect(changesOf(plugged, "a", imported)).toEqual(["-lan@net7"]);
    expect(changesOf(plugged, "a,b@net7,c@net8", imported)).toEqual(["+c@net8"]);
  });
});
