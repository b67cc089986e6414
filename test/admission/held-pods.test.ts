import { expect, test } from "bun:test";
import { errorOf, networksAnnotation } from "../conformance/node.ts";
import { AdmissionNode, broken } from "./admission-node.ts";

/** Far below the shortest hold of 5 s; the local copy sees a change of its folder in a moment. */
const noticeMsMax = 3_000;

async function untilAttached(node: AdmissionNode, wanted: Readonly<Record<string, string>>): Promise<void> {
  let tries = 0;
  const look = async (): Promise<true | undefined> => {
    const { exitCode } = await node.add("p", { annotations: wanted, sandbox: `again${(tries += 1)}` });
    return exitCode === 0 ? true : undefined;
  };
  await node.lab.until("the pod is let go", look, noticeMsMax);
}

const annotations = { [networksAnnotation]: "lan" };

test("a pod that asks for a network that does not exist is answered from memory until the network is there", async () => {
  await using node = await AdmissionNode.start();
  const first = await node.add("p", { annotations });
  expect(errorOf(first)).toMatchObject({ code: 101 });
  const again = await node.add("p", { annotations, sandbox: "second" });
  expect(errorOf(again)).toMatchObject({
    code: 11,
    msg: expect.stringMatching(/^Cannot attach yet: failed 1 times in a row, next try in .* s; last: cannot find/u),
  });
  expect(await node.lab.calls()).toEqual([]);
  await node.lab.network("lan", { cniVersion: "1.0.0", ...node.lab.conf("second") });
  await untilAttached(node, annotations);
});

test("a bad annotation is answered from memory until it is another one", async () => {
  await using node = await AdmissionNode.start();
  const wrong = { [networksAnnotation]: "[not json" };
  expect(errorOf(await node.add("p", { annotations: wrong }))).toMatchObject({ code: 102 });
  expect(errorOf(await node.add("p", { annotations: wrong, sandbox: "second" }))).toMatchObject({ code: 11 });
  await untilAttached(node, {});
});

test("a critical pod is tried each time", async () => {
  await using node = await AdmissionNode.start();
  const options = { annotations, namespace: "kube-system" };
  expect(errorOf(await node.add("p", options))).toMatchObject({ code: 101 });
  expect(errorOf(await node.add("p", { ...options, sandbox: "second" }))).toMatchObject({ code: 101 });
});

test("a network that fails for one pod is tried by the next ones, and no more plugins run once it fails for all", async () => {
  await using node = await AdmissionNode.start({ addQueueMs: 1_000 });
  await node.lab.network("lan", { cniVersion: "1.0.0", ...node.lab.conf("second") });
  await node.lab.script("second.ADD", broken);
  for (const pod of ["a", "b", "c"]) {
    expect(errorOf(await node.add(pod, { annotations }))).toMatchObject({
      code: 11,
      msg: expect.stringContaining("the switch is away"),
    });
  }
  await node.lab.forgetCalls();
  const kept = await node.add("d", { annotations });
  expect(errorOf(kept)).toMatchObject({
    code: 11,
    msg: expect.stringMatching(
      /network default\/lan fails and is tried once in a while \(last: .*the switch is away\), position 1 in line/u,
    ),
  });
  expect(await node.lab.calls()).toEqual([]);
  // Another network's pods do not notice.
  expect(await node.add("e")).toMatchObject({ exitCode: 0 });
});
