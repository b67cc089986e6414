// NPWG 4.2: one network listed twice is two attachments with names of their own, each deleted under the name it was added with.
import { expect, test } from "bun:test";
import { ip } from "../lab/lab.ts";
import { addresses, ipamFolder, leftovers } from "../lab/leftovers.ts";
import { realBridge } from "./bridge.ts";
import { containerId, expectSilence, networksAnnotation, resultOf, startNode, story } from "./node.ts";

test("each gets its own interface and is deleted by it", async () => {
  await using lab = await startNode();
  await lab.network("lan", { cniVersion: "1.0.0", ...lab.conf("second") });
  await lab.pod("web", { [networksAnnotation]: "lan,lan@data0,lan" });
  const call = { containerId: containerId("twice"), netns: lab.netns("a"), args: lab.podArgs("web") };
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("DEL", call));
  expect(await story(lab)).toEqual([
    "ADD first eth0",
    "ADD second net1",
    "ADD second data0",
    "ADD second net3",
    "DEL second net3",
    "DEL second data0",
    "DEL second net1",
    "DEL first eth0",
  ]);
  expect(await leftovers(lab)).toEqual([]);
});

test("the real bridge gives two addresses, and both come back", async () => {
  await using bridge = realBridge("t");
  await using lab = await startNode();
  await lab.network("lan", bridge.conf("lan", { dataDir: ipamFolder(lab) }));
  await lab.pod("web", { [networksAnnotation]: "lan,lan" });
  const call = { containerId: containerId("real"), netns: lab.netns("a"), args: lab.podArgs("web") };
  resultOf(await lab.cni("ADD", call));
  const name = call.netns.slice(call.netns.lastIndexOf("/") + 1);
  for (const [ifname, last] of [
    ["net1", 2],
    ["net2", 3],
  ] as const)
    expect(ip(["-n", name, "-br", "addr", "show", ifname])).toContain(`${bridge.subnet}.${last}/24`);
  expect(await addresses(lab)).toHaveLength(2);
  expectSilence(await lab.cni("DEL", call));
  expect(await leftovers(lab)).toEqual([]);
});
