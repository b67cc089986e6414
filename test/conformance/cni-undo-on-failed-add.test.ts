// CNI 1.1, sections 3 and 4: a failed ADD is followed by DEL for all that may have run, last first, before the failure is returned.
import { expect, test } from "bun:test";
import { addresses, ipamFolder, leftovers } from "../lab/leftovers.ts";
import { realBridge } from "./bridge.ts";
import {
  attachments,
  containerId,
  errorOf,
  expectSilence,
  leaks,
  networksAnnotation,
  onlyCall,
  startNode,
  stdinOf,
  story,
} from "./node.ts";

const failure = `echo '{"cniVersion":"1.0.0","code":42,"msg":"no room","details":"look at the pool"}'; exit 1`;

test("the failed plugin and all before it are undone in reverse, other networks included, and the first error is told", async () => {
  await using lab = await startNode();
  await lab.network("lan", {
    cniVersion: "1.0.0",
    name: "lan",
    plugins: [lab.conf("second"), lab.conf("third"), lab.conf("fourth")],
  });
  await lab.pod("web", { [networksAnnotation]: "lan" });
  await lab.script("third.ADD", failure);
  await lab.script("third.DEL", "exit 0");
  const call = { containerId: containerId("undo"), netns: lab.netns("a"), args: lab.podArgs("web") };
  const { process, outcome } = lab.start("ADD", call);
  expect(errorOf(await outcome)).toEqual({
    cniVersion: "1.1.0",
    code: 42,
    msg: "default/lan (net1): no room",
    details: "look at the pool",
  });
  expect(process.exitCode).toBe(1);
  // All of it happened before the answer, so nothing is added to the story later.
  expect(await story(lab)).toEqual([
    "ADD first eth0",
    "ADD second net1",
    "ADD third net1",
    "DEL third net1",
    "DEL second net1",
    "DEL first eth0",
  ]);
  expect(await leftovers(lab)).toEqual([]);
  expectSilence(await lab.cni("DEL", call));
  expect(await lab.calls()).toHaveLength(6);
});

test.each([
  [
    "an address",
    '{"cniVersion":"1.0.0","ips":[{"address":"nonsense"}]}',
    'ips[0].address must be an address with prefix: current value is "nonsense"',
  ],
  [
    "a version",
    '{"cniVersion":"9.0.0"}',
    'its cniVersion must be one of 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0: current value is "9.0.0"',
  ],
  ["a list", '[{"cniVersion":"1.0.0"}]', 'it must be an object: current value is [{"cniVersion":"1.0.0"}]'],
])(
  "%s that is unreadable in a secondary network's result fails the ADD before the next plugin runs",
  async (_what, answer, words) => {
    await using lab = await startNode();
    await lab.network("lan", { cniVersion: "1.0.0", name: "lan", plugins: [lab.conf("second"), lab.conf("third")] });
    await lab.pod("web", { [networksAnnotation]: "lan" });
    await lab.answer("second.ADD", answer);
    const call = { containerId: containerId("odd"), netns: lab.netns("a"), args: lab.podArgs("web") };
    const error = errorOf(await lab.cni("ADD", call));
    expect(error.msg).toContain("the result of second for default/lan (net1)");
    expect(error.msg).toEndWith(words);
    expect(await story(lab)).toEqual(["ADD first eth0", "ADD second net1", "DEL second net1", "DEL first eth0"]);
    expect(await leftovers(lab)).toEqual([]);
  },
);

test("the undo has the namespace and the last result, as a DEL would", async () => {
  await using lab = await startNode({
    prepare: (lab) =>
      lab.configure({
        delegates: [{ cniVersion: "1.0.0", name: "p", plugins: [lab.conf("first"), lab.conf("second")] }],
      }),
  });
  await lab.script("second.ADD", failure);
  const call = { containerId: containerId("prev"), netns: lab.netns("a") };
  errorOf(await lab.cni("ADD", call));
  const del = await onlyCall(lab, "DEL", "first");
  expect(del.env).toMatchObject({ CNI_NETNS: call.netns, CNI_CONTAINERID: call.containerId, CNI_IFNAME: "eth0" });
  expect(stdinOf(del)["prevResult"]).toMatchObject({ ips: [{ address: "10.9.0.2/24" }] });
});

test("an undo that fails does not hide the first error, does not stop, and is kept in the leak ledger", async () => {
  await using lab = await startNode();
  await lab.network("lan", { cniVersion: "1.0.0", ...lab.conf("second") });
  await lab.pod("web", { [networksAnnotation]: "lan" });
  await lab.script("second.ADD", failure);
  await lab.script("second.DEL", "exit 1");
  const call = { containerId: containerId("leak"), netns: lab.netns("a"), args: lab.podArgs("web") };
  expect(errorOf(await lab.cni("ADD", call))).toMatchObject({ code: 42 });
  expect(await story(lab)).toEqual(["ADD first eth0", "ADD second net1", "DEL second net1", "DEL first eth0"]);
  expect(await attachments(lab)).toEqual([]);
  expect((await leaks(lab)).map(({ network, ifname }) => `${network} ${ifname}`)).toEqual(["default/lan net1"]);
});

test("a chain that failed at its third link undoes the first two whatever the third says", async () => {
  await using lab = await startNode();
  const plugins = [lab.conf("second"), lab.conf("third"), lab.conf("fourth")];
  await lab.network("lan", { cniVersion: "1.0.0", name: "lan", plugins });
  await lab.pod("web", { [networksAnnotation]: "lan" });
  await lab.script("fourth.ADD", failure);
  await lab.script("fourth.DEL", `echo '{"cniVersion":"1.0.0","code":7,"msg":"no such thing"}'; exit 1`);
  const call = { containerId: containerId("third"), netns: lab.netns("a"), args: lab.podArgs("web") };
  expect(errorOf(await lab.cni("ADD", call))).toMatchObject({ code: 42 });
  expect((await story(lab)).slice(4)).toEqual([
    "DEL fourth net1",
    "DEL third net1",
    "DEL second net1",
    "DEL first eth0",
  ]);
  expect((await leaks(lab)).map(({ reason }) => reason)).toEqual(["default/lan (net1): no such thing"]);
});

test("a plugin that refuses the pod's values at ADD and at DEL is undone without them, and leaves no leak", async () => {
  await using lab = await startNode();
  await lab.network("lan", {
    cniVersion: "1.0.0",
    name: "lan",
    plugins: [lab.conf("second"), { ...lab.conf("third", { mtu: 1400 }), capabilities: { bandwidth: true } }],
  });
  const element = { "name": "lan", "bandwidth": { ingressRate: 1 }, "cni-args": { colour: "red" } };
  await lab.pod("web", { [networksAnnotation]: JSON.stringify([element]) });
  // As Go plugins do, it reads the request before it looks at the verb.
  const refuse = `case "$stdin" in *ingressRate*) ${failure};; esac`;
  for (const verb of ["ADD", "DEL"]) await lab.script(`third.${verb}`, refuse);
  const call = { containerId: containerId("refused"), netns: lab.netns("a"), args: lab.podArgs("web") };
  expect(errorOf(await lab.cni("ADD", call))).toMatchObject({ code: 42 });
  expect((await story(lab)).slice(3)).toEqual([
    "DEL third net1",
    "DEL third net1",
    "DEL second net1",
    "DEL first eth0",
  ]);
  const again = (await lab.calls()).filter(({ command, plugin }) => command === "DEL" && plugin === "third")[1];
  const stdin = stdinOf(again!);
  expect(stdin).toMatchObject({ name: "lan", cniVersion: "1.0.0", mtu: 1400 });
  expect(stdin["prevResult"]).toBeDefined();
  expect(stdin["runtimeConfig"]).toBeUndefined();
  expect(stdin["args"]).toBeUndefined();
  expect(await leftovers(lab)).toEqual([]);
});

test("real bridges: a failing second network gives back both addresses and both links", async () => {
  await using one = realBridge("u");
  await using two = realBridge("v");
  await using lab = await startNode({
    prepare: (lab) => lab.configure({ delegates: [one.conf("primary", { dataDir: ipamFolder(lab) })] }),
  });
  await lab.network("lan", {
    cniVersion: "1.0.0",
    name: "lan",
    plugins: [two.conf("lan", { dataDir: ipamFolder(lab) }), lab.conf("second")],
  });
  await lab.pod("web", { [networksAnnotation]: "lan" });
  await lab.script("second.ADD", failure);
  const call = { containerId: containerId("real"), netns: lab.netns("a"), args: lab.podArgs("web") };
  errorOf(await lab.cni("ADD", call));
  expect(await addresses(lab)).toEqual([]);
  expect(await leftovers(lab)).toEqual([]);
  const { ip } = await import("../lab/lab.ts");
  expect(
    ip(["-n", call.netns.slice(call.netns.lastIndexOf("/") + 1), "-br", "link"])
      .split("\n")
      .filter((line) => line !== ""),
  ).toHaveLength(1);
});

test("a retry after the failure succeeds", async () => {
  await using lab = await startNode();
  await lab.script("first.ADD", failure);
  const call = { containerId: containerId("again"), netns: lab.netns("a") };
  errorOf(await lab.cni("ADD", call));
  await lab.unscript("first.ADD");
  expect((await lab.cni("ADD", call)).exitCode).toBe(0);
  expectSilence(await lab.cni("DEL", call));
  expect(await leftovers(lab)).toEqual([]);
});
