// CNI 1.1, STATUS: success means ready for ADD; the primary network's own word decides, and no attachment's variables are needed.
import { rm, writeFile } from "node:fs/promises";
import { expect, test } from "bun:test";
import { Lab } from "../lab/lab.ts";
import {
  containerId,
  errorOf,
  expectSilence,
  networksAnnotation,
  resultOf,
  startNode,
  stdinOf,
  story,
} from "./node.ts";

const bare = { containerId: "", netns: "", ifname: "", args: "" };

test("STATUS asks the primary's plugins in order, without any attachment's variables", async () => {
  await using lab = await startNode({
    prepare: (lab) =>
      lab.configure({
        delegates: [{ cniVersion: "1.1.0", name: "primary", plugins: [lab.conf("first"), lab.conf("second")] }],
      }),
  });
  expectSilence(await lab.cni("STATUS", bare));
  const calls = await lab.calls();
  expect(calls.map(({ command, plugin }) => `${command} ${plugin}`)).toEqual(["STATUS first", "STATUS second"]);
  for (const call of calls) {
    for (const name of ["CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME", "CNI_ARGS"])
      expect(call.env[name]).toBeUndefined();
    expect(stdinOf(call)).toMatchObject({ cniVersion: "1.1.0", name: "primary" });
  }
});

for (const code of [50, 51]) {
  test(`a primary that answers ${code} is passed on as ${code}`, async () => {
    await using lab = await startNode();
    await lab.script(
      "first.STATUS",
      `echo '{"cniVersion":"1.1.0","code":${code},"msg":"no route to the fabric"}'; exit 1`,
    );
    expect(errorOf(await lab.cni("STATUS", bare))).toMatchObject({
      code,
      msg: expect.stringContaining("no route to the fabric"),
    });
  });
}

test("a primary that fails without a code is code 50", async () => {
  await using lab = await startNode();
  await lab.script("first.STATUS", "exit 1");
  expect(errorOf(await lab.cni("STATUS", bare))).toMatchObject({ code: 50 });
});

test("a primary older than 1.1.0 has no STATUS and counts as ready", async () => {
  await using lab = await startNode({
    prepare: (lab) => lab.configure({ delegates: [{ cniVersion: "1.0.0", name: "primary", ...lab.conf("first") }] }),
  });
  expectSilence(await lab.cni("STATUS", bare));
  expect(await lab.calls()).toEqual([]);
});

test("no primary network is code 50, and ready again as soon as there is one", async () => {
  await using lab = await startNode({
    prepare: (lab) => lab.configure({ clusterNetwork: lab.path("confdir/10-primary.conf") }),
  });
  expect(errorOf(await lab.cni("STATUS", bare))).toMatchObject({ code: 50 });
  await writeFile(
    lab.path("confdir/10-primary.conf"),
    JSON.stringify({ cniVersion: "1.1.0", name: "primary", ...lab.conf("first") }),
  );
  expectSilence(await lab.cni("STATUS", bare));
  await rm(lab.path("confdir/10-primary.conf"));
  expect(errorOf(await lab.cni("STATUS", bare))).toMatchObject({ code: 50 });
});

test("a pod's secondary network that fails says nothing about the node", async () => {
  await using lab = await startNode();
  await lab.network("lan", { cniVersion: "1.1.0", ...lab.conf("second") });
  await lab.pod("web", { [networksAnnotation]: "lan" });
  resultOf(await lab.cni("ADD", { containerId: containerId("s"), netns: lab.netns("a"), args: lab.podArgs("web") }));
  await lab.script("second.STATUS", "exit 1");
  await lab.forgetCalls();
  expectSilence(await lab.cni("STATUS", bare));
  expect(await story(lab)).toEqual(["STATUS first none"]);
});

test("a daemon that is away does not take the node out of service", async () => {
  await using lab = await Lab.make();
  expectSilence(await lab.cni("STATUS", bare));
});

test("STATUS is answered while an ADD is running", async () => {
  await using lab = await startNode();
  await lab.script("first.ADD", `while [ ! -e "$control/go" ]; do sleep 0.02; done`);
  const add = lab.cni("ADD", { containerId: containerId("slow"), netns: lab.netns("a") });
  await lab.until("the ADD runs", async () => ((await lab.calls()).length > 0 ? true : undefined));
  expectSilence(await lab.cni("STATUS", bare));
  await writeFile(lab.path("control/go"), "");
  resultOf(await add);
});

test("ADD does not wait for a STATUS to have been asked", async () => {
  await using lab = await startNode();
  await lab.script("first.STATUS", "exit 1");
  resultOf(await lab.cni("ADD", { containerId: containerId("unasked"), netns: lab.netns("a") }));
});

test("a STATUS plugin that hangs is cut off within seconds and taken for pressure, not for a missing network", async () => {
  await using lab = await startNode();
  await lab.script("first.STATUS", "sleep 60");
  const started = performance.now();
  expectSilence(await lab.cni("STATUS", bare));
  expect(performance.now() - started).toBeLessThan(8_000);
  expect(lab.daemonLog).toContain("did not answer STATUS");
});
