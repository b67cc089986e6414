// The daemon tells of host-local addresses without a known sandbox. When a person asks, host-local itself releases them.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { distributionPlugins, type Lab } from "../lab/lab.ts";
import { ipamFolder } from "../lab/leftovers.ts";
import { realBridge } from "./bridge.ts";
import { attach, inShort, lease, round, runtimeResult, startGcNode } from "./garbage.ts";
import { containerId, networksAnnotation } from "./node.ts";

const hourMs = 3_600_000;

/** host-local is looked for where the daemon's own settings say. */
const withPlugins = { binDir: distributionPlugins };

function leaseOf(name: string, ifname = "eth0"): string {
  return `${containerId(name)}\r\n${ifname}`;
}

/** A node with a living container that its runtime knows, so that the runtime's list is proven to be the right one. */
async function startLeaseNode(): Promise<Lab> {
  const lab = await startGcNode(withPlugins);
  await attach(lab, "alive");
  await runtimeResult(lab, containerId("alive"));
  return lab;
}

test("a look tells of an unknown address, and host-local releases it when asked", async () => {
  await using lab = await startLeaseNode();
  const folder = lab.path("cni/networks/lan");
  const orphan = await lease(folder, "10.9.0.7", { content: leaseOf("lost"), ageMs: hourMs });
  const young = await lease(folder, "10.9.0.8", { content: leaseOf("young"), ageMs: 1_000 });
  const owned = await lease(folder, "10.9.0.9", { content: leaseOf("alive", "net1"), ageMs: hourMs });
  await lease(folder, "last_reserved_ip.0", { content: "10.9.0.9", ageMs: hourMs });
  expect(inShort(await round(lab, "look"))).toEqual(["lease 10.9.0.7 release", "lease 10.9.0.8 wait"]);
  expect(existsSync(orphan)).toBe(true);
  const { findings } = await round(lab, "fix");
  expect(findings[0]).toMatchObject({ network: "lan", address: "10.9.0.7", ifname: "eth0", action: "released" });
  expect([orphan, young, owned].map((file) => existsSync(file))).toEqual([false, true, true]);
  expect(inShort(await round(lab, "look"))).toEqual(["lease 10.9.0.8 wait"]);
});

test("what the runtime or Multus has a file of is no orphan, dashes in its name or not", async () => {
  await using lab = await startLeaseNode();
  const folder = lab.path("cni/networks/lan");
  await runtimeResult(lab, "my-own-pod");
  await lease(folder, "10.9.0.7", { content: "my-own-pod\r\neth0", ageMs: hourMs });
  await lease(folder, "10.9.0.8", { content: leaseOf("multus"), ageMs: hourMs });
  await Bun.write(join(lab.cniDir, containerId("multus")), "[]");
  expect(inShort(await round(lab, "fix"))).toEqual([]);
});

test("nothing is released while the runtime's results do not show the containers that live", async () => {
  await using lab = await startGcNode(withPlugins);
  await attach(lab, "alive");
  const orphan = await lease(lab.path("cni/networks/lan"), "10.9.0.7", { content: leaseOf("lost"), ageMs: hourMs });
  const without = await round(lab, "fix");
  expect(inShort(without)).toEqual(["lease 10.9.0.7 report"]);
  expect(without.notes).toEqual([expect.stringContaining("the runtime keeps no results in")]);
  await runtimeResult(lab, containerId("somebody"));
  expect((await round(lab, "fix")).notes).toEqual([
    expect.stringContaining("so the runtime keeps its results elsewhere"),
  ]);
  expect(existsSync(orphan)).toBe(true);
});

test("a network's own folder is found in its definition, and its own configuration is used", async () => {
  await using bridge = realBridge("g");
  await using lab = await startLeaseNode();
  const dataDir = ipamFolder(lab);
  await lab.network("lan", bridge.conf("lan", { dataDir }));
  await lab.pod("web", { [networksAnnotation]: "lan" });
  await attach(lab, "owner", lab.podArgs("web"));
  await runtimeResult(lab, containerId("owner"));
  const orphan = await lease(join(dataDir, "lan"), `${bridge.subnet}.77`, { content: leaseOf("lost"), ageMs: hourMs });
  expect(inShort(await round(lab, "fix"))).toEqual([`lease ${bridge.subnet}.77 released`]);
  expect(existsSync(orphan)).toBe(false);
  expect(existsSync(join(dataDir, "lan", `${bridge.subnet}.2`))).toBe(true);
});

test("a plugin that is missing is told and costs nothing else", async () => {
  await using lab = await startGcNode({ builtinPlugins: "off" });
  await attach(lab, "alive");
  await runtimeResult(lab, containerId("alive"));
  await lease(lab.path("cni/networks/lan"), "10.9.0.8", { content: leaseOf("lost"), ageMs: hourMs });
  const { findings } = await round(lab, "fix");
  expect(findings.map(({ address, action }) => `${address} ${action}`)).toEqual(["10.9.0.8 failed"]);
  expect(findings[0]?.detail).toContain("host-local");
});
