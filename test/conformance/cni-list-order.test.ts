// CNI 1.1, section 3: ADD and CHECK run a list from the front and stop at the first failure, DEL runs it from the back. DEL
// goes on past a failure, unlike the specification: ADR 0008.
import { expect, test } from "bun:test";
import { leftovers } from "../lab/leftovers.ts";
import {
  containerId,
  errorOf,
  expectSilence,
  onlyCall,
  resultOf,
  startNode,
  stdinOf,
  story,
  type NodeOptions,
} from "./node.ts";

const three: NodeOptions = {
  prepare: (lab) =>
    lab.configure({
      delegates: [
        { cniVersion: "1.0.0", name: "primary", plugins: ["first", "second", "third"].map((name) => lab.conf(name)) },
      ],
    }),
};

test("ADD and CHECK go forward, DEL goes backward", async () => {
  await using lab = await startNode(three);
  const call = { containerId: containerId("order"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("CHECK", call));
  expectSilence(await lab.cni("DEL", call));
  expect(await story(lab)).toEqual([
    "ADD first eth0",
    "ADD second eth0",
    "ADD third eth0",
    "CHECK first eth0",
    "CHECK second eth0",
    "CHECK third eth0",
    "DEL third eth0",
    "DEL second eth0",
    "DEL first eth0",
  ]);
  expect(await leftovers(lab)).toEqual([]);
});

test("name and version of the list go into every plugin's configuration", async () => {
  await using lab = await startNode(three);
  resultOf(await lab.cni("ADD", { containerId: containerId("name"), netns: lab.netns("a") }));
  for (const plugin of ["first", "second", "third"])
    expect(stdinOf(await onlyCall(lab, "ADD", plugin))).toMatchObject({
      name: "primary",
      cniVersion: "1.0.0",
      type: plugin,
    });
});

test("CHECK stops at the first complaint", async () => {
  await using lab = await startNode(three);
  const call = { containerId: containerId("check"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  await lab.forgetCalls();
  await lab.script("second.CHECK", "exit 1");
  errorOf(await lab.cni("CHECK", call));
  expect(await story(lab)).toEqual(["CHECK first eth0", "CHECK second eth0"]);
});

test("DEL goes on past a failure, and the next DEL begins again at the back", async () => {
  await using lab = await startNode(three);
  const call = { containerId: containerId("del"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  await lab.forgetCalls();
  await lab.script("second.DEL", "exit 1");
  errorOf(await lab.cni("DEL", call));
  await lab.unscript("second.DEL");
  expectSilence(await lab.cni("DEL", call));
  expect(await story(lab)).toEqual([
    "DEL third eth0",
    "DEL second eth0",
    "DEL first eth0",
    "DEL third eth0",
    "DEL second eth0",
    "DEL first eth0",
  ]);
  expect(await leftovers(lab)).toEqual([]);
});
