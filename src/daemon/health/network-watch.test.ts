import { beforeEach, describe, expect, test } from "bun:test";
import type { Namespace, PluginType } from "../../base/brand.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import { aChain, aRecord, json } from "../../state/journal/record.fixture.ts";
import { systemClock, type Clock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import { silentEventTeller } from "../tell/event-teller.ts";
import type { Hand } from "../../hands/hand.ts";
import type { NetworkConf } from "../../cni/network-conf.ts";
import { NetworkWatch } from "./network-watch.ts";
import type { NetworkDefinition } from "../../view/network-definition.ts";

let nowMs = 0;
let tick: () => void = () => undefined;
let definitions: NetworkDefinition[] = [];
let links: string[] = [];
let programs: string[] = [];
/** Of bridges. */
let ports: Record<string, string[]> = {};
/** Of bridges: the content of their file. */
let filters: Record<string, string> = {};
let looks = 0;
let breaths = 0;
let events: string[] = [];
let records: AttachmentRecord[] = [];
let addresses: { ifname: string; text: string }[] = [];
let isTruncated = false;
let hand: Hand | undefined;
let watch: NetworkWatch;
let primary: () => Promise<NetworkConf | undefined> = () => Promise.resolve(undefined);

const clock: Clock = {
  ...systemClock,
  monotonicMs: () => nowMs,
  sleep: () => {
    breaths += 1;
    return Promise.resolve();
  },
  every: (_ms, callback) => {
    tick = callback;
    return () => undefined;
  },
};

beforeEach(() => {
  nowMs = 0;
  [definitions, links, programs, events, records] = [[], ["eth0", "br-lan"], ["bridge", "vlan"], [], []];
  [looks, breaths, isTruncated] = [0, 0, false];
  [ports, addresses] = [{ "br-lan": ["eth1"] }, []];
  filters = {};
  hand = fakeHand();
  primary = () => Promise.resolve(undefined);
});

function fakeHand(): Hand {
  const fake = {
    supports: () => true,
    busy: 0,
    run: () => Promise.resolve({ exitCode: 1, stdout: new Uint8Array() }),
    links: () => {
      looks += 1;
      return Promise.resolve({ names: links, isTruncated });
    },
    list: (folder: string) => {
      const filter = filters[/^\/sys\/class\/net\/(.+)\/bridge$/u.exec(folder)?.[1] ?? ""];
      if (filter !== undefined) {
        const entries = [{ name: "stp_state" }, { name: "vlan_filtering", content: Buffer.from(filter) }];
        return Promise.resolve({ entries, isTruncated: false });
      }
      if (/^\/sys\/class\/net\/eth\d+\/\.$/u.test(folder)) {
        const entries = [{ name: "operstate", content: Buffer.from("up\n") }];
        return Promise.resolve({ entries, isTruncated: false });
      }
      const found = ports[/^\/sys\/class\/net\/(.+)\/brif$/u.exec(folder)?.[1] ?? ""];
      return Promise.resolve(found && { entries: found.map((name) => ({ name })), isTruncated: false });
    },
    stat: (paths: readonly string[]) =>
      Promise.resolve(
        paths.map((path) => (programs.includes(path.replace("/bin/", "")) ? { device: 1n, inode: 1n } : undefined)),
      ),
  };
  return fake as unknown as Hand; // only what a look needs
}

function network(name: string, plugin: Readonly<Record<string, unknown>> | undefined, uid?: string): NetworkDefinition {
  return {
    namespace: "prod" as Namespace,
    name,
    config: plugin === undefined ? undefined : JSON.stringify({ cniVersion: "1.0.0", name, ...plugin }),
    annotations: {},
    ...(uid === undefined ? {} : { uid }),
  };
}

async function make(): Promise<NetworkWatch> {
  watch = new NetworkWatch({
    clock,
    logger: silentLogger,
    config: { confDir: "/nowhere", uplinkGate: 1 },
    view: { networks: () => definitions },
    journal: { all: () => records },
    eventTeller: {
      ...silentEventTeller,
      aboutNetwork: (ref, notice) => void events.push(`${ref.name} ${notice.reason}: ${notice.message}`),
    },
    nodeName: "node-1",
    resident: () => hand,
    pluginFolders: () => ["/bin"],
    primary: () => primary(),
    hostAddresses: () => Promise.resolve(addresses),
  });
  await watch.settled();
  return watch;
}

async function turn(ms: number): Promise<void> {
  nowMs += ms;
  tick();
  await watch.settled();
}

describe("NetworkWatch", () => {
  test("calls no network ready whose bridge or program is missing", async () => {
    definitions = [
      network("vlan57", { type: "bridge", bridge: "br-prod" }),
      network("lan", { type: "bridge", bridge: "br-lan" }),
      network("far", { type: "vlan", master: "eth0", ipam: { type: "whereabouts" } }),
      network("odd", { type: "" }),
    ];
    await make();
    expect(watch.networks()).toMatchObject([
      { network: "prod/vlan57", state: "not-ready", reasons: ["missing host bridge br-prod"] },
      { network: "prod/lan", state: "ready" },
      { network: "prod/far", state: "not-ready", reasons: ["missing plugin whereabouts"] },
      { network: "prod/odd", state: "not-ready", reasons: [expect.stringContaining("prod/odd")] },
    ]);
  });

  test("knows nothing without a hand, and nothing about interfaces that the hand could not list", async () => {
    definitions = [network("vlan57", { type: "bridge", bridge: "br-prod" })];
    hand = undefined;
    await make();
    expect(watch.networks()).toMatchObject([{ state: "unknown" }]);
    hand = fakeHand();
    isTruncated = true;
    await turn(10_000);
    expect(watch.networks()).toMatchObject([{ state: "unknown" }]);
    isTruncated = false;
    await turn(60_000);
    expect(watch.networks()).toMatchObject([{ state: "not-ready" }]);
    hand = undefined;
    await turn(60_000);
    expect(watch.networks()).toMatchObject([{ state: "not-ready" }]);
    await turn(300_000);
    expect(watch.networks()).toMatchObject([{ state: "unknown" }]);
  });

  test("doubts a network whose range has an address of its own bridge, until the address goes", async () => {
    const ipam = { type: "whereabouts", range: "10.1.0.0/24" };
    definitions = [
      network("lan", { type: "bridge", bridge: "br-lan", ipam }),
      network("wan", { type: "bridge", bridge: "br-wan", ipam }),
      network("far", { type: "bridge", bridge: "br-lan", ipam: { ...ipam, range: "10.2.0.0/24" } }),
    ];
    programs.push("whereabouts");
    links.push("br-wan");
    ports["br-wan"] = ["eth2"];
    addresses = [
      { ifname: "br-lan", text: "10.1.0.9" },
      { ifname: "eth0", text: "192.0.2.1" },
    ];
    await make();
    const taken = ["host address 10.1.0.9 of br-lan is in the network's range"];
    expect(watch.networks().map(({ state, reasons }) => [state, reasons])).toEqual([
      ["ready", taken],
      ["ready", []],
      ["ready", []],
    ]);
    expect(watch.wordOn("prod/lan")).toMatchObject({ state: "ready", reasons: taken });
    // A doubt, and no gate.
    expect(watch.keptFrom("prod/lan")).toEqual([]);
    addresses = [];
    await turn(60_000);
    expect(watch.networks().map(({ reasons }) => reasons)).toEqual([[], [], []]);
  });

  test("knows the age of its last look", async () => {
    definitions = [network("lan", { type: "bridge", bridge: "br-lan" })];
    hand = undefined;
    await make();
    expect(watch.ageMs()).toBeUndefined();
    hand = fakeHand();
    await turn(10_000);
    nowMs += 4_000;
    expect(watch.ageMs()).toBe(4_000);
  });
});

describe("NetworkWatch at a bridge", () => {
  test("calls a tagged network ready only on a bridge that filters VLANs", async () => {
    links = ["br-lan", "br-trunk"];
    ports["br-trunk"] = ["eth2"];
    filters = { "br-lan": "0\n", "br-trunk": "1\n" };
    definitions = ["br-lan", "br-trunk"].map((bridge) => network(bridge, { type: "bridge", bridge, vlan: 57 }));
    await make();
    expect(watch.networks().map(({ state }) => state)).toEqual(["not-ready", "ready"]);
  });

  test("a bridge whose ports the look could not see makes the network unknown, and keeps no pod back", async () => {
    definitions = [network("lan", { type: "bridge", bridge: "br-lan" })];
    ports = {};
    await make();
    const reasons = ["the ports of host bridge br-lan were not seen"];
    expect(watch.networks()).toMatchObject([{ state: "unknown", reasons }]);
    expect(watch.wordOn("prod/lan")).toMatchObject({ state: "unknown", reasons });
    expect(watch.keptFrom("prod/lan")).toEqual([]);
    expect(watch.signsOf("prod/lan")).toEqual(["/sys/class/net/br-lan/bridge"]);
  });

  test("a bridge that has only pods is not ready for want of an uplink", async () => {
    definitions = [network("lan", { type: "bridge", bridge: "br-lan" })];
    await make();
    ports["br-lan"] = ["veth0a1b2c3d"];
    await turn(60_000);
    const reasons = ["host bridge br-lan has no uplink (ip link set DEVICE master br-lan)"];
    expect(watch.networks()).toMatchObject([{ state: "not-ready", reasons }]);
    expect(watch.keptFrom("prod/lan")).toEqual(reasons);
    ports["br-lan"] = ["eth1", "veth0a1b2c3d"];
    // A pod that is kept back asks again, and waits for no tick.
    await watch.lookAgain("prod/lan", definitions[0]);
    expect(watch.keptFrom("prod/lan")).toEqual(reasons);
    nowMs += 1_000;
    await watch.lookAgain("prod/lan", definitions[0]);
    expect(watch.keptFrom("prod/lan")).toEqual([]);
    expect(watch.signsOf("prod/lan")).toEqual(["/sys/class/net/br-lan/bridge", "/sys/class/net/br-lan/brif/eth1"]);
    expect(watch.keptFrom("prod/none")).toBeUndefined();
  });

  test("the sign of a ready network is the port that made it ready, not the bridge's first one", async () => {
    const definition = network("lan", { type: "bridge", bridge: "br-lan" });
    definitions = [{ ...definition, annotations: { "levee.dev/uplink": "eth2" } }];
    ports["br-lan"] = ["eth1", "eth2"];
    await make();
    expect(watch.signsOf("prod/lan")).toEqual(["/sys/class/net/br-lan/bridge", "/sys/class/net/br-lan/brif/eth2"]);
  });

  test("keeps pods whose tag would be lost from a bridge without an uplink, too", async () => {
    filters = { "br-lan": "0\n" };
    const definition = network("lan", { type: "bridge", bridge: "br-lan", vlan: 57 });
    definitions = [{ ...definition, annotations: { "levee.dev/uplink": "none" } }];
    await make();
    const reasons = [expect.stringContaining("does not filter VLANs") as string];
    expect(watch.networks()).toMatchObject([{ state: "not-ready", reasons }]);
    expect(watch.keptFrom("prod/lan")).toEqual(reasons);
  });
});

describe("NetworkWatch over time", () => {
  test("looks once a minute, and at once when a definition changes", async () => {
    definitions = [network("a", { type: "bridge", bridge: "br-lan" })];
    await make();
    await turn(10_000);
    expect(looks).toBe(1);
    definitions = [network("a", { type: "bridge", bridge: "br-new" })];
    await turn(10_000);
    expect(looks).toBe(2);
    expect(watch.networks()).toMatchObject([{ reasons: ["missing host bridge br-new"] }]);
    links.push("br-new");
    ports["br-new"] = ["eth2"];
    await turn(60_000);
    expect(watch.networks()).toMatchObject([{ state: "ready" }]);
    definitions = [];
    await turn(10_000);
    expect(watch.networks()).toEqual([]);
  });

  test("sends one Event per change, and only on objects in a cluster", async () => {
    definitions = [
      network("vlan57", { type: "bridge", bridge: "br-prod" }, "u1"),
      network("local", { type: "bridge", bridge: "br-prod" }),
    ];
    await make();
    await turn(60_000);
    expect(events).toEqual([
      "vlan57 NetworkNotReady: Pods cannot be attached on node node-1: missing host bridge br-prod",
    ]);
    links.push("br-prod");
    ports["br-prod"] = ["eth2"];
    await turn(60_000);
    expect(events.slice(1)).toEqual(["vlan57 NetworkReady: Pods can be attached on node node-1"]);
  });

  test("counts an interface that is in a pod as present", async () => {
    definitions = [network("port", { type: "host-device", device: "ens7" })];
    programs.push("host-device");
    const link = { type: "host-device" as PluginType, stdin: json('{"device":"ens7"}') };
    records = [{ ...aRecord(1), chains: [aChain({ links: [link] })] }];
    expect((await make()).networks()).toMatchObject([{ state: "ready" }]);
  });

  test("judges the primary network too, and a definition without a configuration file", async () => {
    definitions = [network("filed", undefined)];
    const plugins = [{ type: "calico", text: '{"type":"calico"}' }];
    primary = () => Promise.resolve({ name: "k8s-pod-network", plugins } as unknown as NetworkConf);
    expect((await make()).networks()).toMatchObject([
      { network: "prod/filed", state: "not-ready", reasons: [expect.stringContaining("no file in confDir")] },
      { network: "k8s-pod-network", state: "not-ready", reasons: ["missing plugin calico"] },
    ]);
  });

  test("reads five thousand definitions a few at a time, and asks the host about each thing once", async () => {
    definitions = Array.from({ length: 5_000 }, (_unused, index) =>
      network(`n${index}`, { type: "vlan", master: "eth0", vlanId: index % 4_000, ipam: { subnet: `${index}` } }),
    );
    await make();
    expect(breaths).toBe(250);
    expect(looks).toBe(1);
    expect(watch.networks().filter(({ state }) => state === "ready")).toHaveLength(5_000);
    await turn(10_000);
    expect(breaths).toBe(250);
  });
});
