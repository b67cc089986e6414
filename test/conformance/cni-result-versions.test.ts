// CNI 1.1, result: the answer bears the version the caller's configuration asked for, in that version's shape.
import { expect, test } from "bun:test";
import { leftovers } from "../lab/leftovers.ts";
import { containerId, errorOf, expectSilence, resultOf, startNode } from "./node.ts";

const plain = JSON.stringify({
  cniVersion: "1.1.0",
  interfaces: [
    { name: "br0", mac: "02:00:00:00:00:02" },
    { name: "eth0", mac: "02:00:00:00:00:01", mtu: 1400, sandbox: "/var/run/netns/x", pciID: "0000:01:00.0" },
  ],
  ips: [
    { address: "10.9.0.2/24", gateway: "10.9.0.1", interface: 1 },
    { address: "fd00::2/64", gateway: "fd00::1", interface: 1 },
  ],
  routes: [
    { dst: "0.0.0.0/0", gw: "10.9.0.1" },
    { dst: "::/0", gw: "fd00::1", mtu: 1300 },
  ],
  dns: { nameservers: ["10.9.0.53"] },
});
const dns = { nameservers: ["10.9.0.53"] };

for (const version of ["0.1.0", "0.2.0"]) {
  test(`a caller of ${version} gets one address per family with its routes`, async () => {
    await using lab = await startNode();
    await lab.answer("first.ADD", plain);
    const call = {
      containerId: containerId("old"),
      netns: lab.netns("a"),
      conf: lab.shimConf({ cniVersion: version }),
    };
    expect(resultOf(await lab.cni("ADD", call))).toEqual({
      cniVersion: version,
      ip4: { ip: "10.9.0.2/24", gateway: "10.9.0.1", routes: [{ dst: "0.0.0.0/0", gw: "10.9.0.1" }] },
      ip6: { ip: "fd00::2/64", gateway: "fd00::1", routes: [{ dst: "::/0", gw: "fd00::1" }] },
      dns,
    } as never);
    expectSilence(await lab.cni("DEL", call));
    expect(await leftovers(lab)).toEqual([]);
  });
}

for (const version of ["0.3.0", "0.3.1", "0.4.0"]) {
  test(`a caller of ${version} gets interfaces and addresses with their IP version`, async () => {
    await using lab = await startNode();
    await lab.answer("first.ADD", plain);
    const call = {
      containerId: containerId("mid"),
      netns: lab.netns("a"),
      conf: lab.shimConf({ cniVersion: version }),
    };
    const result = resultOf(await lab.cni("ADD", call));
    expect(result.cniVersion).toBe(version);
    expect(result.interfaces?.map((link) => Object.keys(link))).toEqual([
      ["name", "mac"],
      ["name", "mac", "sandbox"],
    ]);
    expect(result.ips?.map((ip) => ip.version)).toEqual(["4", "6"]);
    expect(result.ips?.map((ip) => ip.interface)).toEqual([1, 1]);
    expect(result.ip4).toBeUndefined();
    expect(result.dns).toEqual(dns);
  });
}

for (const version of ["1.0.0", "1.1.0"]) {
  test(`a caller of ${version} gets addresses without an IP version`, async () => {
    await using lab = await startNode();
    await lab.answer("first.ADD", plain);
    const call = {
      containerId: containerId("new"),
      netns: lab.netns("a"),
      conf: lab.shimConf({ cniVersion: version }),
    };
    const result = resultOf(await lab.cni("ADD", call));
    expect(result.cniVersion).toBe(version);
    expect(result.ips?.map((ip) => ip.version)).toEqual([undefined, undefined]);
    expect(result.routes?.map((route) => route.dst)).toEqual(["0.0.0.0/0", "::/0"]);
    expect(result.interfaces?.[1]).toMatchObject({ name: "eth0", sandbox: "/var/run/netns/x" });
  });
}

test("a configuration without a version is one of 0.1.0", async () => {
  await using lab = await startNode();
  const conf = JSON.stringify({ name: "levee", daemonSocketDir: lab.socketDir, stateDir: lab.stateDir });
  const outcome = await lab.cni("ADD", { containerId: containerId("none"), netns: lab.netns("a"), conf });
  expect(resultOf(outcome)).toMatchObject({ cniVersion: "0.1.0", ip4: { ip: "10.9.0.2/24" } });
});

test("an old delegate's result reaches a new caller in the new shape", async () => {
  await using lab = await startNode({
    prepare: (lab) => lab.configure({ delegates: [{ cniVersion: "0.2.0", name: "primary", ...lab.conf("first") }] }),
  });
  await lab.answer(
    "first.ADD",
    '{"cniVersion":"0.2.0","ip4":{"ip":"10.1.0.9/16","gateway":"10.1.0.1","routes":[{"dst":"0.0.0.0/0"}]}}',
  );
  const result = resultOf(await lab.cni("ADD", { containerId: containerId("up"), netns: lab.netns("a") }));
  expect(result).toMatchObject({
    cniVersion: "1.1.0",
    ips: [{ address: "10.1.0.9/16", gateway: "10.1.0.1" }],
    routes: [{ dst: "0.0.0.0/0" }],
  });
});

test("an unknown version is refused with code 1 before any plugin runs", async () => {
  await using lab = await startNode();
  const outcome = await lab.cni("ADD", {
    containerId: containerId("odd"),
    netns: lab.netns("a"),
    conf: lab.shimConf({ cniVersion: "2.0.0" }),
  });
  expect(errorOf(outcome)).toMatchObject({ code: 1 });
  expect(await lab.calls()).toEqual([]);
});

test("a plugin configuration in an unknown version is refused with code 1, and no plugin runs", async () => {
  await using lab = await startNode({
    prepare: (lab) => lab.configure({ delegates: [{ cniVersion: "9.9.9", name: "primary", ...lab.conf("first") }] }),
  });
  expect(errorOf(await lab.cni("ADD", { containerId: containerId("bad"), netns: lab.netns("a") }))).toMatchObject({
    code: 1,
  });
  expect(await lab.calls()).toEqual([]);
  expect(await leftovers(lab)).toEqual([]);
});

test("the newest version that a network lists in cniVersions is the one its plugin gets", async () => {
  await using lab = await startNode({
    prepare: (lab) =>
      lab.configure({
        delegates: [
          {
            cniVersion: "0.3.1",
            cniVersions: ["0.3.1", "1.0.0", "7.0.0"],
            name: "primary",
            plugins: [lab.conf("first")],
          },
        ],
      }),
  });
  resultOf(await lab.cni("ADD", { containerId: containerId("list"), netns: lab.netns("a") }));
  const [call] = await lab.calls();
  expect(JSON.parse(call?.stdin ?? "{}")).toMatchObject({ cniVersion: "1.0.0", name: "primary" });
});
