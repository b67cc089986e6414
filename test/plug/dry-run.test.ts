import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { AdmissionNode, waitsFor } from "../admission/admission-node.ts";
import { realBridge } from "../conformance/bridge.ts";
import { startNode } from "../conformance/node.ts";
import { expectNothingLeft } from "../crash/nothing-left.ts";
import { ip, type Lab } from "../lab/lab.ts";
import { levee } from "../lab/levee.ts";
import { ipamFolder } from "../lab/leftovers.ts";
import { beginDryRun, dryRun, untilDryRunEnded } from "./dry-run-node.ts";

// Real processes on a machine that may be busy with other tests.
setDefaultTimeout(120_000);

/** The lab's hand knows only its own programmable plugins. */
const withReal = { withHand: true, settings: { binDir: "/usr/lib/cni" } };

function linksOfHost(): readonly string[] {
  return namesOf(ip(["-j", "link"]));
}

/** Not the veths of the whole machine: other tests make some meanwhile. */
function portsOf(bridge: string): readonly string[] {
  return namesOf(ip(["-j", "link", "show", "master", bridge]));
}

function namesOf(links: string): readonly string[] {
  return (JSON.parse(links) as readonly { ifname: string }[]).map(({ ifname }) => ifname);
}

/** The kernel's own IPv6 address comes and goes with the ports. */
function addressesOf(device: string): readonly string[] {
  const [link] = JSON.parse(ip(["-j", "address", "show", "dev", device])) as readonly {
    addr_info: readonly { local: string; prefixlen: number; scope: string }[];
  }[];
  const lasting = (link?.addr_info ?? []).filter(({ scope }) => scope !== "link");
  return lasting.map(({ local, prefixlen }) => `${local}/${prefixlen}`);
}

async function checked(lab: Lab, ...args: readonly string[]): Promise<{ status: number | null; out: string }> {
  // Before the resident hand has looked at the host, nothing is known of a network.
  return await lab.until("the hand has looked at the host", async () => {
    const said = await levee(lab, "check", "network", ...args);
    return said.out === "" || /unknown|absent/.test(said.out) ? undefined : said;
  });
}

describe("a dry run with the real bridge and host-local", () => {
  test("attaches, checks and detaches, names the addresses, and leaves nothing", async () => {
    await using bridge = realBridge("d");
    await using lab = await startNode(withReal);
    ip(["link", "add", bridge.device, "type", "bridge"]);
    const gateways = [`${bridge.subnet}.1/24`, `${bridge.subnet6}1/64`];
    for (const gateway of gateways) ip(["address", "add", gateway, "dev", bridge.device]);
    await lab.network("lan", bridge.conf("lan", { dataDir: ipamFolder(lab), withV6: true }));
    const { status, out } = await checked(lab, "lan", "--dry-run", "-o", "json");
    const { isGood, nodes } = JSON.parse(out) as { isGood: boolean; nodes: readonly unknown[] };
    expect({ status, isGood }).toEqual({ status: 0, isGood: true });
    expect(nodes).toMatchObject([
      {
        network: "default/lan",
        state: "ready",
        dryRun: { state: "passed", step: "compare", addresses: [`${bridge.subnet}.2`, `${bridge.subnet6}2`] },
      },
    ]);
    await expectNothingLeft(lab, { bridges: [bridge.device] });
    expect(portsOf(bridge.device)).toEqual([]);
    // The pool has given nothing away: the next one can get an address of it as well.
    const again = await levee(lab, "check", "network", "default/lan", "--dry-run", "-o", "wide");
    expect(again.out).toMatch(/ready +passed .* ms/);
    expect(addressesOf(bridge.device)).toEqual(gateways);
  });

  test("refuses a bridge that would get and keep a gateway's address, or lose one of its own", async () => {
    await using bridge = realBridge("g");
    await using lab = await startNode(withReal);
    ip(["link", "add", bridge.device, "type", "bridge"]);
    const conf = bridge.conf("lan", { dataDir: ipamFolder(lab), withV6: true });
    await lab.network("lan", conf);
    const bare = await dryRun(lab, "lan");
    expect(addressesOf(bridge.device)).toEqual([]);
    expect(bare).toMatchObject({ state: "refused", step: "look" });
    expect(bare.reason).toContain(`bridge ${bridge.device} has no address ${bridge.subnet}.1/24`);
    ip(["address", "add", `${bridge.subnet}.1/24`, "dev", bridge.device]);
    expect((await dryRun(lab, "lan")).reason).toContain(`has no address ${bridge.subnet6}1/64`);
    ip(["address", "add", `${bridge.subnet6}1/64`, "dev", bridge.device]);
    expect(await dryRun(lab, "lan")).toMatchObject({ state: "passed" });
    const own = `${bridge.subnet}.77/32`;
    ip(["address", "add", own, "dev", bridge.device]);
    await lab.network("forced", { ...conf, name: "forced", forceAddress: true });
    expect((await dryRun(lab, "forced")).reason).toContain(`may take the address ${own} away`);
    expect(addressesOf(bridge.device)).toContain(own);
  });

  test("refuses where the plugin would make the bridge, and the bridge stays missing", async () => {
    await using bridge = realBridge("e");
    await using lab = await startNode({ ...withReal, settings: { ...withReal.settings, uplinkGate: 1 } });
    await lab.network("lan", bridge.conf("lan", { dataDir: ipamFolder(lab) }));
    const said = await dryRun(lab, "lan");
    expect(said).toMatchObject({ state: "refused", step: "look" });
    expect(said.reason).toContain(`the host has no bridge ${bridge.device}`);
    expect(linksOfHost()).not.toContain(bridge.device);
    // OpenShift Virtualization's name for the same plugin.
    await lab.network("cnv", { ...bridge.conf("cnv", { dataDir: ipamFolder(lab) }), type: "cnv-bridge" });
    expect((await dryRun(lab, "cnv")).reason).toContain(`the host has no bridge ${bridge.device}`);
    await lab.network("island", { ...bridge.conf("island", { dataDir: ipamFolder(lab) }), isGateway: false });
    const island = await dryRun(lab, "island");
    expect(island).toMatchObject({ state: "refused", step: "look" });
    expect(island.reason).toContain(`missing host bridge ${bridge.device}`);
    expect(linksOfHost()).not.toContain(bridge.device);
  });

  test("a pool without a free address fails at ADD, in the plugin's words", async () => {
    await using bridge = realBridge("f");
    await using lab = await startNode(withReal);
    ip(["link", "add", bridge.device, "type", "bridge"]);
    ip(["address", "add", `${bridge.subnet}.1/24`, "dev", bridge.device]);
    const one = { subnet: `${bridge.subnet}.0/24`, rangeStart: `${bridge.subnet}.9`, rangeEnd: `${bridge.subnet}.9` };
    const conf = bridge.conf("lan", { dataDir: ipamFolder(lab) });
    await lab.network("lan", {
      ...conf,
      ipam: { type: "host-local", dataDir: ipamFolder(lab), ranges: [[{ ...one, gateway: `${bridge.subnet}.1` }]] },
    });
    expect(await dryRun(lab, "lan")).toMatchObject({ state: "passed", addresses: [`${bridge.subnet}.9`] });
    const folder = `${ipamFolder(lab)}/lan`;
    writeFileSync(`${folder}/${bridge.subnet}.9`, "somebody\r\neth0");
    const said = await dryRun(lab, "lan");
    expect(said).toMatchObject({ state: "failed", step: "ADD" });
    expect(said.reason).toContain("no IP addresses available");
    spawnSync("rm", [`${folder}/${bridge.subnet}.9`]);
    await expectNothingLeft(lab, { bridges: [bridge.device] });
  });
});

describe("a dry run that is refused", () => {
  test("of a network that needs a device is refused with the reason", async () => {
    await using lab = await startNode({ withHand: true });
    const conf = { cniVersion: "1.0.0", name: "vf", ...lab.conf("second") };
    await lab.network("vf", conf, "default", { "k8s.v1.cni.cncf.io/resourceName": "example.com/vf" });
    expect((await dryRun(lab, "vf")).reason).toContain("needs a device of example.com/vf");
    await lab.network("nic", { cniVersion: "1.0.0", name: "nic", type: "host-device", device: "lo" });
    expect((await dryRun(lab, "nic")).reason).toContain("host-device takes a device away from the host");
    const { id } = await beginDryRun(lab, "nowhere");
    expect(await untilDryRunEnded(lab, id)).toMatchObject({ state: "refused", step: "look" });
    expect(await lab.calls()).toEqual([]);
  });

  test("of a network with fixed addresses or a fixed MAC address is refused with the reason", async () => {
    await using lab = await startNode({ withHand: true });
    const base = { cniVersion: "1.0.0", ...lab.conf("second") };
    const ipam = { type: "static", addresses: [{ address: "10.9.0.7/24" }] };
    await lab.network("fixed", { ...base, name: "fixed", ipam });
    const said = await dryRun(lab, "fixed");
    expect(said).toMatchObject({ state: "refused", step: "look", reason: expect.stringContaining("its IPAM static") });
    const mac = "02:00:00:00:00:07";
    for (const [name, more] of [
      ["top", { mac }],
      ["args", { args: { cni: { mac } } }],
    ] as const) {
      await lab.network(name, {
        cniVersion: "1.0.0",
        name,
        plugins: [lab.conf("first"), { ...lab.conf("second"), ...more }],
      });
      expect((await dryRun(lab, name)).reason).toContain(`its plugin second sets the fixed MAC address ${mac}`);
    }
    expect(await lab.calls()).toEqual([]);
  });
});

describe("a dry run", () => {
  test("tells the container ID that its plugins get", async () => {
    await using lab = await startNode({ withHand: true });
    await lab.network("lan", { cniVersion: "1.0.0", name: "lan", ...lab.conf("second") });
    const { state, containerId } = await dryRun(lab, "lan");
    const calls = await lab.calls();
    expect(state).toBe("passed");
    expect(new Set(calls.map((call) => call.containerId))).toEqual(new Set([String(containerId)]));
    expect(containerId).toStartWith("levee-dry-run-");
  });

  test("of a name that the primary network has too tries the definition; of the primary alone it is refused", async () => {
    await using lab = await startNode({ withHand: true });
    const alone = await checked(lab, "primary", "--dry-run");
    expect(alone).toMatchObject({ status: 1, out: expect.stringContaining("it has no NetworkAttachmentDefinition") });
    await lab.network("primary", { cniVersion: "1.0.0", name: "primary", ...lab.conf("second") });
    await dryRun(lab, "primary");
    const both = await lab.until("the daemon has looked at the definition", async () => {
      const said = await checked(lab, "primary", "--dry-run");
      return said.out.includes("default/primary") ? said : undefined;
    });
    expect(both.out).toMatch(/default\/primary +ready +passed/u);
    expect(both.out).toMatch(/ primary +ready +not tried/u);
    expect(both.status).toBe(0);
  });

  test("names what a plugin leaves although its DEL succeeds", async () => {
    await using lab = await startNode({ withHand: true });
    await lab.network("messy", { cniVersion: "1.0.0", name: "messy", ...lab.conf("second") });
    const left = `lvl${process.pid % 100_000}`;
    const result = JSON.stringify({ cniVersion: "1.0.0", interfaces: [{ name: left }] });
    await lab.script("second.ADD", `ip link add ${left} type bridge; echo '${result}'; exit 0`);
    try {
      const said = await dryRun(lab, "messy");
      expect(said).toMatchObject({ state: "failed", step: "compare" });
      expect(said.reason).toContain(`interface ${left} on the host`);
    } finally {
      spawnSync("ip", ["link", "delete", left]);
    }
  });

  test("that cannot be taken back is in the leak ledger, and says so", async () => {
    await using lab = await startNode({ withHand: true });
    await lab.network("sticky", { cniVersion: "1.0.0", name: "sticky", ...lab.conf("second") });
    await lab.script("second.DEL", `echo '{"code":88,"msg":"not today"}'; exit 1`);
    const said = await dryRun(lab, "sticky");
    expect(said).toMatchObject({ state: "failed", step: "DEL", remedy: expect.stringContaining("levee leaks") });
    expect(said.reason).toContain("not today");
    await lab.unscript("second.DEL");
    await levee(lab, "leaks", "--retry");
    await expectNothingLeft(lab);
  });

  test("runs alone on its node, and never while calls wait", async () => {
    await using node = await AdmissionNode.start({ attachCeiling: 1 });
    const { lab } = node;
    await lab.startHand();
    await lab.network("slow", { cniVersion: "1.0.0", name: "slow", ...lab.conf("first") });
    expect(await dryRun(lab, "slow")).toMatchObject({ state: "passed" });
    await lab.forgetCalls();
    await lab.script("first.ADD", waitsFor("go"));
    const { id } = await beginDryRun(lab, "slow");
    await lab.until("its plugin runs", async () => (await lab.calls())[0]);
    expect(await beginDryRun(lab, "slow").catch(String)).toContain("default/slow is being tried here");
    const waiting = await node.call("ADD", "waiting");
    await node.untilWaiting(1);
    writeFileSync(lab.path("control/go"), "");
    expect(await untilDryRunEnded(lab, id)).toMatchObject({ state: "passed" });
    expect(await waiting.outcome).toMatchObject({ exitCode: 0 });
    await lab.script("first.ADD", waitsFor("later"));
    const [first, second] = [await node.call("ADD", "a"), await node.call("ADD", "b")];
    await node.untilWaiting(1);
    const refused = await dryRun(lab, "slow");
    expect(refused).toMatchObject({ state: "refused", reason: expect.stringContaining("1 call waits in line") });
    writeFileSync(lab.path("control/later"), "");
    expect((await Promise.all([first.outcome, second.outcome])).map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  });

  test("without a resident hand changes nothing and says why", async () => {
    await using lab = await startNode();
    await lab.network("lan", { cniVersion: "1.0.0", name: "lan", ...lab.conf("second") });
    expect((await dryRun(lab, "lan")).reason).toContain("no resident hand is connected");
  });
});
