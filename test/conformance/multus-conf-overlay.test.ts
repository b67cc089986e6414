// Multus 1: the conf of the call is overlaid by every top-level key of daemon-config.json; keys match without regard to case.
import { mkdir, writeFile } from "node:fs/promises";
import { expect, test } from "bun:test";
import { leftovers } from "../lab/leftovers.ts";
import {
  containerId,
  errorOf,
  expectSilence,
  networksAnnotation,
  onlyCall,
  resultOf,
  startNode,
  stdinOf,
  story,
} from "./node.ts";

test("a key of the daemon wins whole; a key it does not have comes from the call", async () => {
  await using lab = await startNode({
    prepare: (lab) => lab.configure({ delegates: [{ cniVersion: "1.0.0", name: "mine", ...lab.conf("first") }] }),
  });
  const conf = lab.shimConf({ delegates: [{ cniVersion: "1.0.0", name: "yours", ...lab.conf("second") }] });
  resultOf(await lab.cni("ADD", { containerId: containerId("wins"), netns: lab.netns("a"), conf }));
  expect(await story(lab)).toEqual(["ADD first eth0"]);
});

test("without such a key in the daemon's file the call's own conf decides", async () => {
  await using lab = await startNode({ prepare: (lab) => lab.configure({}) });
  const conf = lab.shimConf({
    Delegates: [
      { cniVersion: "1.0.0", name: "yours", ...lab.conf("second") },
      { cniVersion: "1.0.0", name: "more", ...lab.conf("third") },
    ],
  });
  const call = { containerId: containerId("call"), netns: lab.netns("a"), conf };
  resultOf(await lab.cni("ADD", call));
  expect(await story(lab)).toEqual(["ADD second eth0", "ADD third net1"]);
  // A DEL needs nothing of the conf but the socket.
  expectSilence(await lab.cni("DEL", { ...call, conf: lab.shimConf() }));
  expect(await leftovers(lab)).toEqual([]);
});

test("keys match without regard to case, in the daemon's file as well", async () => {
  await using lab = await startNode({
    prepare: (lab) =>
      lab.configure({ ClusterNetwork: lab.path("confdir"), clusternetwork: lab.path("confdir/20-b.conf") }),
  });
  await writeFile(
    lab.path("confdir/10-a.conf"),
    JSON.stringify({ cniVersion: "1.0.0", name: "a", ...lab.conf("second") }),
  );
  await writeFile(
    lab.path("confdir/20-b.conf"),
    JSON.stringify({ cniVersion: "1.0.0", name: "b", ...lab.conf("third") }),
  );
  resultOf(await lab.cni("ADD", { containerId: containerId("case"), netns: lab.netns("a") }));
  expect(await story(lab)).toEqual(["ADD third eth0"]);
});

test("neither delegates nor clusterNetwork is code 50, and nothing runs", async () => {
  await using lab = await startNode({ prepare: (lab) => lab.configure({}) });
  expect(errorOf(await lab.cni("ADD", { containerId: containerId("none"), netns: lab.netns("a") }))).toMatchObject({
    code: 50,
  });
  expect(await leftovers(lab)).toEqual([]);
});

test("clusterNetwork wins over delegates", async () => {
  await using lab = await startNode({
    prepare: async (lab) => {
      await writeFile(
        lab.path("confdir/10-a.conf"),
        JSON.stringify({ cniVersion: "1.0.0", name: "a", ...lab.conf("second") }),
      );
      await lab.configure({
        clusterNetwork: "a",
        delegates: [{ cniVersion: "1.0.0", name: "x", ...lab.conf("first") }],
      });
    },
  });
  resultOf(await lab.cni("ADD", { containerId: containerId("both"), netns: lab.netns("a") }));
  expect(await story(lab)).toEqual(["ADD second eth0"]);
});

for (const [what, clusterNetwork] of [
  ["a folder: its first file by name", "confdir"],
  ["a file", "confdir/10-a.conf"],
  ["the name of a conf in confDir", "a"],
  ["a definition in multusNamespace", "nad"],
] as const) {
  test(`clusterNetwork may be ${what}`, async () => {
    await using lab = await startNode({
      prepare: async (lab) => {
        await writeFile(
          lab.path("confdir/20-b.conf"),
          JSON.stringify({ cniVersion: "1.0.0", name: "b", ...lab.conf("third") }),
        );
        await writeFile(
          lab.path("confdir/10-a.conf"),
          JSON.stringify({ cniVersion: "1.0.0", name: "a", ...lab.conf("second") }),
        );
        await lab.network("nad", { cniVersion: "1.0.0", ...lab.conf("second") }, "net-system");
        await lab.configure({
          clusterNetwork: clusterNetwork.startsWith("confdir") ? lab.path(clusterNetwork) : clusterNetwork,
          multusNamespace: "net-system",
        });
      },
    });
    resultOf(await lab.cni("ADD", { containerId: containerId("cn"), netns: lab.netns("a") }));
    expect(await story(lab)).toEqual(["ADD second eth0"]);
  });
}

test("a clusterNetwork that is nowhere is an error that says where it was looked for", async () => {
  await using lab = await startNode({ settings: { clusterNetwork: "gone" } });
  const error = errorOf(await lab.cni("ADD", { containerId: containerId("gone"), netns: lab.netns("a") }));
  expect(error.msg).toContain("gone");
  expect(error.msg).toContain(lab.path("confdir"));
  expect(await leftovers(lab)).toEqual([]);
});

test("defaultNetworks come between the default and the pod's own, but not for system namespaces", async () => {
  await using lab = await startNode({
    prepare: async (lab) => {
      await lab.network("main", { cniVersion: "1.0.0", ...lab.conf("first") }, "kube-system");
      await lab.network("node", { cniVersion: "1.0.0", ...lab.conf("second") }, "kube-system");
      await lab.configure({ clusterNetwork: "main", defaultNetworks: ["node"], systemNamespaces: ["infra"] });
    },
  });
  await lab.network("own", { cniVersion: "1.0.0", ...lab.conf("third") }, "default");
  await lab.pod("web", { [networksAnnotation]: "own" });
  await lab.pod("web", {}, "infra");
  resultOf(await lab.cni("ADD", { containerId: containerId("pod"), netns: lab.netns("a"), args: lab.podArgs("web") }));
  expect(await story(lab)).toEqual(["ADD first eth0", "ADD second net1", "ADD third net2"]);
  await lab.forgetCalls();
  resultOf(
    await lab.cni("ADD", { containerId: containerId("sys"), netns: lab.netns("b"), args: lab.podArgs("web", "infra") }),
  );
  expect(await story(lab)).toEqual(["ADD first eth0"]);
});

test("the auxiliary chain runs last, behind passthru, on the next free name", async () => {
  await using lab = await startNode({
    prepare: async (lab) => {
      // Gets no configuration of its own, so the programmable plugin cannot stand in for it.
      const passthru = `#!/bin/sh\n[ "$CNI_COMMAND" != ADD ] || echo '{"cniVersion":"1.0.0"}'\n`;
      await writeFile(lab.path("bin/passthru"), passthru, { mode: 0o755 });
      const conf = { cniVersion: "1.0.0", name: "a", ...lab.conf("first") };
      await writeFile(lab.path("confdir/10-a.conf"), JSON.stringify(conf));
      await mkdir(lab.path("confdir/vendor"));
      await writeFile(lab.path("confdir/vendor/tune.conf"), JSON.stringify(lab.conf("second")));
      await lab.configure({ clusterNetwork: lab.path("confdir/10-a.conf"), auxiliaryCNIChainName: "vendor" });
    },
  });
  await lab.network("own", { cniVersion: "1.0.0", ...lab.conf("third") });
  await lab.pod("web", { [networksAnnotation]: "own" });
  const call = { containerId: containerId("aux"), netns: lab.netns("a"), args: lab.podArgs("web") };
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("DEL", call));
  const steps = ["first eth0", "third net1", "second net2"];
  const expected = [...steps.map((step) => `ADD ${step}`), ...steps.toReversed().map((step) => `DEL ${step}`)];
  expect(await story(lab)).toEqual(expected);
  expect(stdinOf(await onlyCall(lab, "ADD", "second"))).toMatchObject({ name: "vendor", cniVersion: "1.1.0" });
  expect(await leftovers(lab)).toEqual([]);
});

test.each([
  ["cut short", '{"type":', "tune.conf"],
  ["without a type", '{"mtu":1500}', "plugin 0 of the sub-directory of network vendor"],
])("a file of the auxiliary chain that is %s fails the ADD before anything runs", async (_what, text, place) => {
  await using lab = await startNode({
    prepare: async (lab) => {
      const conf = { cniVersion: "1.0.0", name: "a", ...lab.conf("first") };
      await writeFile(lab.path("confdir/10-a.conf"), JSON.stringify(conf));
      await mkdir(lab.path("confdir/vendor"));
      await writeFile(lab.path("confdir/vendor/tune.conf"), text);
      await lab.configure({ clusterNetwork: lab.path("confdir/10-a.conf"), auxiliaryCNIChainName: "vendor" });
    },
  });
  const error = errorOf(await lab.cni("ADD", { containerId: containerId("aux"), netns: lab.netns("a") }));
  expect(error.msg).toContain(place);
  expect(await lab.calls()).toEqual([]);
});

test("an auxiliary chain needs a clusterNetwork that is a path", async () => {
  await using lab = await startNode({
    settings: { clusterNetwork: "a", auxiliaryCNIChainName: "vendor" },
    prepare: (lab) => lab.network("a", { cniVersion: "1.0.0", ...lab.conf("first") }, "kube-system"),
  });
  const error = errorOf(await lab.cni("ADD", { containerId: containerId("aux"), netns: lab.netns("a") }));
  expect(error).toMatchObject({ code: 7, msg: expect.stringContaining("ClusterNetwork must be a path") });
});

test("runtimeConfig of the daemon's file replaces the runtime's, as with Multus", async () => {
  await using lab = await startNode({
    prepare: (lab) =>
      lab.configure({
        runtimeConfig: { mac: "02:00:00:00:00:aa" },
        delegates: [{ cniVersion: "1.0.0", name: "p", ...lab.conf("first"), capabilities: { mac: true, ips: true } }],
      }),
  });
  const conf = lab.shimConf({ runtimeConfig: { mac: "02:00:00:00:00:bb", ips: ["10.0.0.1"] } });
  resultOf(await lab.cni("ADD", { containerId: containerId("rc"), netns: lab.netns("a"), conf }));
  expect(stdinOf(await onlyCall(lab, "ADD", "first"))["runtimeConfig"]).toEqual({ mac: "02:00:00:00:00:aa" });
});
