import { afterAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { Lab, ip } from "../lab/lab.ts";
import { addresses, ipamFolder } from "../lab/leftovers.ts";
import { eachOf, expectSuccess, isDead, pause, startFragile } from "./crash-node.ts";
import { expectNothingLeft } from "./nothing-left.ts";

const mark = `lr${process.pid % 9_999}`;
const used = new Set<string>();

afterAll(() => {
  for (const bridge of used) spawnSync("ip", ["link", "delete", bridge]);
});

/** begin, bridge, the default route taken away, bridge, the default route set, commit, acknowledge. */
const writesOfAdd = 7;

test("real bridges and a default route on the second network: the daemon killed after each journal write changes nothing of the outcome", async () => {
  const cases = Array.from({ length: writesOfAdd }, (_, index) => index + 1);
  await eachOf(cases, 2, async (write) => {
    await using lab = await makeNode(write);
    const daemon = await startFragile(lab, write);
    const netns = lab.netns("c1");
    const call = { containerId: "c1", netns, args: lab.podArgs("web") };
    const adding = lab.cni("ADD", call);
    await lab.until("the daemon is killed", () => Promise.resolve(isDead(daemon) || undefined));
    await pause(100);
    await lab.startDaemon();
    expectSuccess(await adding);
    expect(defaultRoutes(netns)).toEqual([`via 10.${100 + write}.1.1 dev net1`]);
    expect(await addresses(lab)).toHaveLength(2);
    expectSuccess(await lab.cni("DEL", call));
    await expectNothingLeft(lab, { netns: [netns], bridges: [`${mark}a${write}`, `${mark}b${write}`] });
  });
});

async function makeNode(write: number): Promise<Lab> {
  const lab = await Lab.make();
  const network = (name: string, letter: string, part: number): Record<string, unknown> => ({
    cniVersion: "1.0.0",
    name,
    type: "bridge",
    bridge: `${mark}${letter}${write}`,
    isGateway: true,
    isDefaultGateway: letter === "a",
    ipam: { type: "host-local", dataDir: ipamFolder(lab), ranges: [[{ subnet: `10.${100 + write}.${part}.0/24` }]] },
  });
  for (const letter of ["a", "b"]) used.add(`${mark}${letter}${write}`);
  await lab.network("primary", network("primary", "a", 0), "kube-system");
  await lab.network("second", network("second", "b", 1));
  const selection = [{ "name": "second", "default-route": [`10.${100 + write}.1.1`] }];
  await lab.pod("web", { "k8s.v1.cni.cncf.io/networks": JSON.stringify(selection) });
  await lab.configure({ clusterNetwork: "primary", undoRetryMs: 100 });
  return lab;
}

function defaultRoutes(netns: string): readonly string[] {
  const lines = ip(["-n", netns.slice(netns.lastIndexOf("/") + 1), "route", "show", "default"]).split("\n");
  return lines.filter((line) => line !== "").map((line) => line.replace(/^default /, "").trim());
}
