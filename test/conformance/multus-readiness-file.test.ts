import { expect, test } from "bun:test";
import { rm, writeFile } from "node:fs/promises";
import { containerId, errorOf, resultOf, startNode, story } from "./node.ts";

/** `readinessindicatorfile` gates ADD, and never STATUS or DEL: kubelet would take the node out of service. */

test("an ADD waits for the file and is then told to come back later, while STATUS and DEL go on at once", async () => {
  await using lab = await startNode({
    prepare: (node) =>
      node.configure({ ...primaryOf(node), addLookupMs: 400, readinessindicatorfile: node.path("ready") }),
  });
  const call = { containerId: containerId("a"), netns: lab.netns("a") };
  const beganMs = performance.now();
  const error = errorOf(await lab.cni("ADD", call));
  expect(performance.now() - beganMs).toBeGreaterThan(350);
  expect(error.code).toBe(11);
  expect(error.msg).toStartWith(
    `have you checked that your default network is ready? still waiting for readinessindicatorfile @ ${lab.path("ready")}`,
  );
  expect((await lab.cni("STATUS", { containerId: "" })).exitCode).toBe(0);
  expect((await lab.cni("DEL", call)).exitCode).toBe(0);
  expect(await story(lab)).toEqual(["STATUS first none"]);
});

test("an ADD goes on when the file appears, and what was attached is deleted when it is gone", async () => {
  await using lab = await startNode({
    prepare: (node) => node.configure({ ...primaryOf(node), readinessindicatorfile: node.path("ready") }),
  });
  const call = { containerId: containerId("a"), netns: lab.netns("a") };
  const adding = lab.cni("ADD", call);
  await lab.untilConnected(1);
  await writeFile(lab.path("ready"), "");
  resultOf(await adding);
  await rm(lab.path("ready"));
  expect((await lab.cni("DEL", call)).exitCode).toBe(0);
  expect(await story(lab)).toEqual(["ADD first eth0", "DEL first eth0"]);
});

test("a file that only the call's conf names gates as well", async () => {
  await using lab = await startNode({
    prepare: (node) => node.configure({ ...primaryOf(node), addLookupMs: 200 }),
  });
  const conf = lab.shimConf({ readinessindicatorfile: lab.path("ready") });
  const call = { containerId: containerId("a"), netns: lab.netns("a"), conf };
  expect(errorOf(await lab.cni("ADD", call)).code).toBe(11);
  await writeFile(lab.path("ready"), "");
  resultOf(await lab.cni("ADD", call));
});

function primaryOf(lab: { conf(type: string): Record<string, unknown> }): object {
  return { delegates: [{ cniVersion: "1.1.0", name: "primary", ...lab.conf("first") }] };
}
