// CNI 1.1, section 3: each plugin of a chain gets the result before it, CHECK and DEL get the final one; old versions get none at DEL.
import { expect, test } from "bun:test";
import type { Lab } from "../lab/lab.ts";
import { ipamFolder, leftovers } from "../lab/leftovers.ts";
import { realBridge } from "./bridge.ts";
import { containerId, expectSilence, onlyCall, resultOf, startNode, stdinOf } from "./node.ts";

function chain(lab: Lab, cniVersion: string): Promise<void> {
  return lab.configure({
    delegates: [{ cniVersion, name: "primary", plugins: [lab.conf("first"), lab.conf("second"), lab.conf("third")] }],
  });
}

function result(cniVersion: string, address: string): Record<string, unknown> {
  return {
    cniVersion,
    "interfaces": [{ name: "eth0", sandbox: "/x" }],
    "ips": [{ version: "4", address, interface: 0 }],
    "x-own": 1.5,
  };
}

async function answerAll(lab: Lab, version: string): Promise<void> {
  for (const [index, plugin] of ["first", "second", "third"].entries())
    await lab.answer(`${plugin}.ADD`, JSON.stringify(result(version, `10.0.0.${index + 1}/24`)));
}

test("ADD hands each plugin the result of the one before, as it was printed", async () => {
  await using lab = await startNode({ prepare: (lab) => chain(lab, "1.0.0") });
  await answerAll(lab, "1.0.0");
  const outcome = await lab.cni("ADD", { containerId: containerId("chain"), netns: lab.netns("a") });
  expect(resultOf(outcome).ips?.[0]?.address).toBe("10.0.0.3/24");
  expect(stdinOf(await onlyCall(lab, "ADD", "first"))["prevResult"]).toBeUndefined();
  expect(stdinOf(await onlyCall(lab, "ADD", "second"))["prevResult"]).toEqual(result("1.0.0", "10.0.0.1/24"));
  expect(stdinOf(await onlyCall(lab, "ADD", "third"))["prevResult"]).toEqual(result("1.0.0", "10.0.0.2/24"));
});

for (const version of ["0.4.0", "1.1.0"]) {
  test(`CHECK and DEL of ${version} hand every plugin the final result`, async () => {
    await using lab = await startNode({ prepare: (lab) => chain(lab, version) });
    await answerAll(lab, version);
    const call = { containerId: containerId("final"), netns: lab.netns("a") };
    resultOf(await lab.cni("ADD", call));
    expectSilence(await lab.cni("CHECK", call));
    expectSilence(await lab.cni("DEL", call));
    for (const verb of ["CHECK", "DEL"]) {
      for (const plugin of ["first", "second", "third"]) {
        expect(stdinOf(await onlyCall(lab, verb, plugin))["prevResult"]).toEqual(result(version, "10.0.0.3/24"));
      }
    }
  });
}

test("DEL of 0.3.1 hands over no result, as that version has none", async () => {
  await using lab = await startNode({ prepare: (lab) => chain(lab, "0.3.1") });
  await answerAll(lab, "0.3.1");
  const call = { containerId: containerId("old"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("DEL", call));
  for (const plugin of ["first", "second", "third"])
    expect(stdinOf(await onlyCall(lab, "DEL", plugin))["prevResult"]).toBeUndefined();
});

test("DEL has the final result after the daemon was killed", async () => {
  await using lab = await startNode({ prepare: (lab) => chain(lab, "1.0.0") });
  await answerAll(lab, "1.0.0");
  const call = { containerId: containerId("kept"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  await lab.killDaemon();
  await lab.startDaemon();
  expectSilence(await lab.cni("DEL", call));
  expect(stdinOf(await onlyCall(lab, "DEL", "first"))["prevResult"]).toEqual(result("1.0.0", "10.0.0.3/24"));
});

test("a result without a version gets the network's, so that the next plugin can read it", async () => {
  await using lab = await startNode({ prepare: (lab) => chain(lab, "0.4.0") });
  await lab.answer(
    "first.ADD",
    '{"interfaces":[{"name":"eth0","sandbox":"/x"}],"ips":[{"version":"4","address":"10.0.0.1/24"}]}',
  );
  resultOf(await lab.cni("ADD", { containerId: containerId("bare"), netns: lab.netns("a") }));
  expect(stdinOf(await onlyCall(lab, "ADD", "second"))["prevResult"]).toMatchObject({
    cniVersion: "0.4.0",
    ips: [{ address: "10.0.0.1/24" }],
  });
});

test("a prevResult in the runtime's own conf does not reach the delegates", async () => {
  await using lab = await startNode();
  const conf = lab.shimConf({ prevResult: { cniVersion: "1.1.0", ips: [{ address: "192.0.2.1/24" }] } });
  resultOf(await lab.cni("ADD", { containerId: containerId("foreign"), netns: lab.netns("a"), conf }));
  expect(stdinOf(await onlyCall(lab, "ADD", "first"))["prevResult"]).toBeUndefined();
});

test("CHECK and DEL hand over the result in the version of the configuration, whatever the plugin printed", async () => {
  await using lab = await startNode({ prepare: (lab) => chain(lab, "0.4.0") });
  await answerAll(lab, "0.4.0");
  const newer = { ...result("1.1.0", "10.0.0.3/24"), routes: [{ dst: "0.0.0.0/0", gw: "10.0.0.1", mtu: 1400 }] };
  await lab.answer("third.ADD", JSON.stringify({ ...newer, interfaces: [{ name: "eth0", sandbox: "/x", mtu: 1400 }] }));
  const call = { containerId: containerId("newer"), netns: lab.netns("a") };
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("CHECK", call));
  expectSilence(await lab.cni("DEL", call));
  for (const verb of ["CHECK", "DEL"])
    for (const plugin of ["first", "second", "third"])
      expect(stdinOf(await onlyCall(lab, verb, plugin))["prevResult"]).toEqual({
        cniVersion: "0.4.0",
        interfaces: [{ name: "eth0", sandbox: "/x" }],
        ips: [{ version: "4", address: "10.0.0.3/24", interface: 0 }],
        routes: [{ dst: "0.0.0.0/0", gw: "10.0.0.1", mtu: 1400 }],
        dns: {},
      });
});

test("real bridge and portmap of 0.4.0 are deleted although the last plugin prints 1.1.0", async () => {
  await using bridge = realBridge("w");
  await using lab = await startNode({
    prepare: (lab) =>
      lab.configure({
        delegates: [
          {
            cniVersion: "0.4.0",
            name: "primary",
            plugins: [
              bridge.conf("primary", { dataDir: ipamFolder(lab), cniVersion: "0.4.0" }),
              { type: "portmap", capabilities: { portMappings: true } },
              lab.conf("first"),
            ],
          },
        ],
      }),
  });
  // It hands on the result it got, as a chained plugin does, and calls it 1.1.0.
  await lab.script(
    "first.ADD",
    `printf '%s' "$stdin" | tr -d '\\n' | sed 's/.*"prevResult":[ ]*//; s/}$//; s/"cniVersion":[ ]*"0.4.0"/"cniVersion":"1.1.0"/'; : >"$call/ended"; exit 0`,
  );
  const runtimeConfig = { portMappings: [{ hostPort: 28_471, containerPort: 80, protocol: "tcp" }] };
  const conf = lab.shimConf({ runtimeConfig });
  const call = { containerId: containerId("ports"), netns: lab.netns("a"), conf };
  resultOf(await lab.cni("ADD", call));
  expect(stdinOf(await onlyCall(lab, "ADD", "first"))["prevResult"]).toMatchObject({ cniVersion: "0.4.0" });
  expectSilence(await lab.cni("DEL", call));
  expect(await leftovers(lab)).toEqual([]);
});
