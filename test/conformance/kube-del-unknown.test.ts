// ADR 0008 with an API server: the networks of a container that the journal does not know come from its pod.
import { expect, test } from "bun:test";
import { ip } from "../lab/lab.ts";
import { KubeNode } from "./kube-node.ts";
import { containerId, expectSilence, networksAnnotation, story } from "./node.ts";

/** A container with an interface that Levee did not make. */
function attachedByOthers(node: KubeNode, pod: string): { containerId: string; netns: string; args: string } {
  const netns = node.lab.netns(pod);
  ip(["-n", netns.slice(netns.lastIndexOf("/") + 1), "link", "add", "eth0", "type", "bridge"]);
  return { containerId: containerId(pod), netns, args: `${node.lab.podArgs(pod)};K8S_POD_UID=uid-of-${pod}` };
}

test("a pod in the API: all its networks are deleted, last first, once, and the server is not asked", async () => {
  await using node = await KubeNode.start((api) => api.pod("web", { [networksAnnotation]: "net-a" }));
  await node.synced();
  await node.untilInView(1);
  const asked = node.api.requests.length;
  const call = attachedByOthers(node, "web");
  for (let time = 0; time < 3; time += 1) expectSilence(await node.lab.cni("DEL", call));
  expect(await story(node.lab)).toEqual(["DEL second net1", "DEL first eth0"]);
  const calls = await node.lab.calls();
  expect(calls.map(({ env }) => env["CNI_NETNS"])).toEqual([call.netns, call.netns]);
  // The watches go on meanwhile.
  const single = /\/(?:pods|network-attachment-definitions)\/[^/]+$/u;
  expect(node.api.requests.slice(asked).filter((line) => single.test(line))).toEqual([]);
  expect(await node.timeline("web")).toContain(`found: the journal does not know it, but eth0 is in ${call.netns}`);
});

test("another pod has the name by now: only the default network is deleted", async () => {
  await using node = await KubeNode.start((api) => api.pod("web", { [networksAnnotation]: "net-a" }, "another"));
  await node.synced();
  await node.untilInView(1);
  expectSilence(await node.lab.cni("DEL", attachedByOthers(node, "web")));
  expect(await story(node.lab)).toEqual(["DEL first eth0"]);
});

test("the pod is gone, but its annotations came with the call: all its networks are deleted", async () => {
  await using node = await KubeNode.start();
  await node.synced();
  const conf = node.confWith({ [networksAnnotation]: "net-a" });
  expectSilence(await node.lab.cni("DEL", { ...attachedByOthers(node, "web"), conf }));
  expect(await story(node.lab)).toEqual(["DEL second net1", "DEL first eth0"]);
});

test("the API server does not answer: the DEL waits for the list for a while, then deletes the default network", async () => {
  await using node = await KubeNode.start((api) => {
    api.pod("web", { [networksAnnotation]: "net-a" });
    api.mood = () => "silent";
  });
  const startedMs = performance.now();
  expectSilence(await node.lab.cni("DEL", attachedByOthers(node, "web")));
  expect(performance.now() - startedMs).toBeWithin(4_500, 20_000);
  expect(await story(node.lab)).toEqual(["DEL first eth0"]);
});

test("an ADD that was refused: its DEL runs nothing, even with an interface of others in the namespace", async () => {
  await using node = await KubeNode.start((api) => api.pod("web", { [networksAnnotation]: "nowhere" }));
  await node.synced();
  const call = attachedByOthers(node, "web");
  expect((await node.lab.cni("ADD", call)).exitCode).toBe(1);
  expectSilence(await node.lab.cni("DEL", call));
  expect(await story(node.lab)).toEqual([]);
});
