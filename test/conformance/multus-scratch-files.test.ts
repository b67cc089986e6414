// Multus B: every commit writes the files Multus would have written, DEL removes them, so that going back works.
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { filesIn, leftovers } from "../lab/leftovers.ts";
import { containerId, errorOf, expectSilence, networksAnnotation, resultOf, startNode, stdinOf } from "./node.ts";

const id = containerId("scratch");

function decoded(base64: unknown): Record<string, unknown> {
  return JSON.parse(Buffer.from(String(base64), "base64").toString()) as Record<string, unknown>;
}

test("one scratch file per container and one result per network, private, with lossless bytes", async () => {
  await using lab = await startNode({
    prepare: (lab) =>
      lab.configure({
        delegates: [{ cniVersion: "1.0.0", name: "primary", plugins: [lab.conf("first", { own: 1 })] }],
      }),
  });
  await lab.network("lan", {
    cniVersion: "1.0.0",
    name: "lan-conf",
    ...lab.conf("second"),
    capabilities: { mac: true },
  });
  await lab.pod("web", {
    [networksAnnotation]: JSON.stringify([{ name: "lan", interface: "data0", mac: "02:00:00:00:00:07" }]),
  });
  const call = { containerId: id, netns: lab.netns("a"), args: lab.podArgs("web") };
  resultOf(await lab.cni("ADD", call));

  await lab.until("Multus' copies are written", async () =>
    (await filesIn(lab.cniDir)).length === 3 ? true : undefined,
  );
  const files = (await filesIn(lab.cniDir)).map((file) => file.slice(lab.cniDir.length + 1));
  expect(files).toEqual([`results/lan-conf-${id}-data0`, `results/primary-${id}-eth0`, id].toSorted());
  for (const file of files) expect((await stat(join(lab.cniDir, file))).mode & 0o777).toBe(0o600);

  const [primary, lan] = JSON.parse(await readFile(join(lab.cniDir, id), "utf8")) as Record<string, unknown>[];
  expect(primary).toMatchObject({
    Name: "primary",
    CNINetworkConfigList: { Name: "primary", Plugins: [{ Network: { type: "first" } }] },
  });
  expect(decoded(primary?.["Bytes"])).toMatchObject({ plugins: [{ type: "first", own: 1 }] });
  expect(lan).toMatchObject({
    Name: "default/lan",
    ifnameRequest: "data0",
    macRequest: "02:00:00:00:00:07",
    Conf: { name: "lan-conf", type: "second" },
  });

  const result = JSON.parse(await readFile(join(lab.cniDir, "results", `lan-conf-${id}-data0`), "utf8")) as Record<
    string,
    unknown
  >;
  expect(result).toMatchObject({
    kind: "cniCacheV1",
    containerId: id,
    ifName: "data0",
    networkName: "lan-conf",
    netns: call.netns,
    capabilityArgs: { mac: "02:00:00:00:00:07" },
    result: { ips: [{ address: "10.9.0.2/24" }] },
  });
  expect(result["cniArgs"]).toContainEqual(["K8S_POD_NAME", "web"]);

  expectSilence(await lab.cni("DEL", call));
  expect(await leftovers(lab)).toEqual([]);
});

test("a failed ADD leaves no file", async () => {
  await using lab = await startNode();
  await lab.script("first.ADD", "exit 1");
  errorOf(await lab.cni("ADD", { containerId: id, netns: lab.netns("a") }));
  expect(await filesIn(lab.cniDir)).toEqual([]);
});

test("a folder that cannot be written does not fail the pod", async () => {
  await using lab = await startNode({ settings: { cniDir: "/proc/levee-nowhere" } });
  const call = { containerId: id, netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("DEL", call));
  expect(lab.daemonLog).toContain("/proc/levee-nowhere");
});

test("a daemon that lost its journal deletes by these files", async () => {
  await using lab = await startNode({
    prepare: (lab) =>
      lab.configure({
        delegates: [
          { cniVersion: "1.0.0", name: "primary", plugins: [lab.conf("first", { own: 1 }), lab.conf("second")] },
        ],
      }),
  });
  const call = { containerId: id, netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  await lab.until("Multus' copies are written", async () =>
    (await filesIn(lab.cniDir)).length === 2 ? true : undefined,
  );
  await lab.killDaemon();
  const { rm } = await import("node:fs/promises");
  await rm(lab.stateDir, { recursive: true });
  await lab.forgetCalls();
  await lab.startDaemon();
  expectSilence(await lab.cni("DEL", call));
  const calls = await lab.calls();
  expect(calls.map(({ command, plugin }) => `${command} ${plugin}`)).toEqual(["DEL second", "DEL first"]);
  expect(stdinOf(calls[1]!)).toMatchObject({ own: 1, prevResult: { ips: [{ address: "10.9.0.2/24" }] } });
  expect(await leftovers(lab)).toEqual([]);
});
