// A plugin whose daemon does not run: the pod's error names it, and a refused ADD leaves nothing, not even a leak.
import { expect, test } from "bun:test";
import { leftovers } from "../lab/leftovers.ts";
import { realBridge } from "./bridge.ts";
import { containerId, errorOf, expectSilence, networksAnnotation, startNode } from "./node.ts";

test("dhcp without its daemon: the error names daemon and socket, and nothing is left", async () => {
  await using bridge = realBridge("d");
  await using lab = await startNode();
  const socket = lab.path("dhcp.sock");
  const ipam = { type: "dhcp", daemonSocketPath: socket };
  await lab.network("leased", { cniVersion: "1.0.0", type: "bridge", bridge: bridge.device, ipam });
  await lab.pod("web", { [networksAnnotation]: "leased" });
  const call = { containerId: containerId("dhcp"), netns: lab.netns("a"), args: lab.podArgs("web") };
  const { msg } = errorOf(await lab.cni("ADD", call));
  expect(msg).toContain("leased (net1): error dialing DHCP daemon");
  expect(msg).toContain(socket);
  expect(msg).not.toContain("levee leaks");
  expect(await leftovers(lab)).toEqual([]);
  expectSilence(await lab.cni("DEL", call));
});
