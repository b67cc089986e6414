// NPWG 4.1.2.1.7: cni-args go into args.cni of every plugin of the network, and win over the network's own.
import { expect, test } from "bun:test";
import {
  containerId,
  errorOf,
  expectSilence,
  networksAnnotation,
  onlyCall,
  resultOf,
  startNode,
  stdinOf,
} from "./node.ts";

test("they reach every plugin of a list, at DEL too, beside what is there, and win where both speak", async () => {
  await using lab = await startNode();
  await lab.network("lan", {
    cniVersion: "1.0.0",
    name: "lan",
    plugins: [lab.conf("second", { args: { cni: { a: "network", keep: 1 }, other: { x: 1 } } }), lab.conf("third")],
  });
  await lab.pod("web", { [networksAnnotation]: JSON.stringify([{ "name": "lan", "cni-args": { a: "pod", b: [1] } }]) });
  const call = { containerId: containerId("args"), netns: lab.netns("a"), args: lab.podArgs("web") };
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("DEL", call));
  for (const verb of ["ADD", "DEL"]) {
    expect(stdinOf(await onlyCall(lab, verb, "second"))["args"]).toEqual({
      cni: { a: "pod", keep: 1, b: [1] },
      other: { x: 1 },
    });
    expect(stdinOf(await onlyCall(lab, verb, "third"))["args"]).toEqual({ cni: { a: "pod", b: [1] } });
    expect(stdinOf(await onlyCall(lab, verb, "first"))["args"]).toBeUndefined();
  }
});

test("a network whose args are no object is an error that names the key, and nothing runs", async () => {
  await using lab = await startNode();
  await lab.network("lan", { cniVersion: "1.0.0", ...lab.conf("second", { args: "x" }) });
  await lab.pod("web", { [networksAnnotation]: JSON.stringify([{ "name": "lan", "cni-args": { a: 1 } }]) });
  const outcome = await lab.cni("ADD", {
    containerId: containerId("bad"),
    netns: lab.netns("a"),
    args: lab.podArgs("web"),
  });
  expect(errorOf(outcome)).toMatchObject({ code: 7, msg: expect.stringContaining('"args"') });
  expect(await lab.calls()).toEqual([]);
});
