// NPWG 4.1.2: a JSON list of objects; known keys are honoured, keys in reverse-DNS form are left alone.
import { expect, test } from "bun:test";
import type { CniCall, Lab } from "../lab/lab.ts";
import { leftovers } from "../lab/leftovers.ts";
import { containerId, errorOf, networksAnnotation, onlyCall, resultOf, startNode, stdinOf, story } from "./node.ts";

async function podWith(lab: Lab, annotation: unknown): Promise<CniCall> {
  await lab.network("lan", {
    cniVersion: "1.0.0",
    ...lab.conf("second"),
    capabilities: { ips: true, mac: true, portMappings: true, bandwidth: true, infinibandGUID: true },
  });
  await lab.network("dmz", { cniVersion: "1.0.0", ...lab.conf("third") }, "infra");
  await lab.pod("web", {
    [networksAnnotation]: typeof annotation === "string" ? annotation : JSON.stringify(annotation),
  });
  return { containerId: containerId("json"), netns: lab.netns("a"), args: lab.podArgs("web") };
}

test("name, namespace and interface choose the network and its name, in order", async () => {
  await using lab = await startNode();
  resultOf(
    await lab.cni(
      "ADD",
      await podWith(lab, [{ name: "dmz", namespace: "infra", interface: "data0" }, { name: "lan" }]),
    ),
  );
  expect(await story(lab)).toEqual(["ADD first eth0", "ADD third data0", "ADD second net2"]);
});

test("the older key interfaceRequest still names the interface", async () => {
  await using lab = await startNode();
  resultOf(await lab.cni("ADD", await podWith(lab, [{ name: "lan", interfaceRequest: "old0" }])));
  expect(await story(lab)).toEqual(["ADD first eth0", "ADD second old0"]);
});

test("unknown keys do not fail the pod and reach no plugin", async () => {
  await using lab = await startNode();
  resultOf(await lab.cni("ADD", await podWith(lab, [{ "name": "lan", "example.com/colour": "red", "later": 1 }])));
  expect((await onlyCall(lab, "ADD", "second")).stdin).not.toContain("colour");
});

for (const empty of ["[]", "null", " [ ] "]) {
  test(`${JSON.stringify(empty)} attaches nothing more`, async () => {
    await using lab = await startNode();
    const outcome = await lab.cni("ADD", await podWith(lab, empty));
    if (empty === "null") {
      // Without a bracket or a quote this is the short form: a network called null.
      expect(errorOf(outcome)).toMatchObject({ code: 101 });
      return;
    }
    resultOf(outcome);
    expect(await story(lab)).toEqual(["ADD first eth0"]);
  });
}

for (const [what, annotation] of [
  ["is an object", { name: "lan" }],
  ["is a string", '"lan"'],
  ["is truncated", '[{"name":"lan"'],
  ["has rubbish behind it", '[{"name":"lan"}] x'],
  ["has a null element", [null]],
  ["has a string element", ["lan"]],
  ["has no name", [{ namespace: "infra" }]],
  ["has a number for a name", [{ name: 7 }]],
  ["has a path for a name", [{ name: "../lan" }]],
  ["has a path for a namespace", [{ name: "lan", namespace: "../../x" }]],
  ["has an interface name of 16 bytes", [{ name: "lan", interface: "abcdefghijklmnop" }]],
  ["has an interface name with a slash", [{ name: "lan", interface: "a/b" }]],
  ["has an interface name of two dots", [{ name: "lan", interface: ".." }]],
  ["has a bad address", [{ name: "lan", ips: ["10.0.0.300"] }]],
  ["has a bad prefix", [{ name: "lan", ips: ["10.0.0.1/33"] }]],
  ["has addresses that are no list", [{ name: "lan", ips: "10.0.0.1" }]],
  ["has a bad mac", [{ name: "lan", mac: "02:00:00:00:00" }]],
  ["has a bad guid", [{ "name": "lan", "infiniband-guid": "zz" }]],
  ["has a port of 0", [{ name: "lan", portMappings: [{ hostPort: 0, containerPort: 80 }] }]],
  ["has a port above 65535", [{ name: "lan", portMappings: [{ hostPort: 65536, containerPort: 80 }] }]],
  ["has an unknown protocol", [{ name: "lan", portMappings: [{ hostPort: 1, containerPort: 80, protocol: "icmp" }] }]],
  ["has a negative bandwidth", [{ name: "lan", bandwidth: { ingressRate: -1 } }]],
  ["has a fractional bandwidth", [{ name: "lan", bandwidth: { ingressRate: 1.5 } }]],
  ["has cni-args that are no object", [{ "name": "lan", "cni-args": [1] }]],
] as const) {
  test(`an annotation that ${what} is invalid: code 102, and nothing runs`, async () => {
    await using lab = await startNode();
    const error = errorOf(await lab.cni("ADD", await podWith(lab, annotation)));
    expect(error.code).toBe(102);
    expect(await lab.calls()).toEqual([]);
    expect(await leftovers(lab)).toEqual([]);
  });
}

for (const more of [{}, { ips: ["10.0.0.1/24"] }, { ips: ["10.0.0.1/24"], mac: "02:00:00:00:00:09" }]) {
  test(`an IPAM claim is accepted beside ${JSON.stringify(more)}`, async () => {
    await using lab = await startNode();
    const asked = [{ "name": "lan", "ipam-claim-reference": "claim", ...more }];
    resultOf(await lab.cni("ADD", await podWith(lab, asked)));
    expect(stdinOf(await onlyCall(lab, "ADD", "second"))["runtimeConfig"] ?? {}).toMatchObject(more);
  });
}

test("a mac is served on a network without cniVersion, whose results have no place for it", async () => {
  await using lab = await startNode();
  await lab.network("bare", lab.conf("second"));
  await lab.answer("second.ADD", '{"cniVersion":"0.1.0","ip4":{"ip":"10.9.0.2/24"}}');
  await lab.pod("old", { [networksAnnotation]: '[{"name":"bare","mac":"02:00:00:00:00:0b"}]' });
  const call = { containerId: containerId("old"), netns: lab.netns("a"), args: lab.podArgs("old") };
  resultOf(await lab.cni("ADD", call));
  expect((await onlyCall(lab, "ADD", "second")).env["CNI_ARGS"]).toEndWith(";MAC=02:00:00:00:00:0b");
});

test("the first of two elements is not attached when the second is invalid", async () => {
  await using lab = await startNode();
  errorOf(await lab.cni("ADD", await podWith(lab, [{ name: "lan" }, { name: "lan", mac: "x" }])));
  expect(await lab.calls()).toEqual([]);
});

test("addresses and mac reach the real static and bridge plugins", async () => {
  const { realBridge } = await import("./bridge.ts");
  const { ip } = await import("../lab/lab.ts");
  await using bridge = realBridge("j");
  await using lab = await startNode();
  await lab.network("lan", {
    cniVersion: "1.0.0",
    name: "lan",
    type: "bridge",
    bridge: bridge.device,
    capabilities: { ips: true, mac: true },
    ipam: { type: "static" },
  });
  await lab.pod("real", {
    [networksAnnotation]: JSON.stringify([{ name: "lan", ips: ["10.254.7.9/24"], mac: "02:12:34:56:78:9a" }]),
  });
  const call = { containerId: containerId("real"), netns: lab.netns("a"), args: lab.podArgs("real") };
  resultOf(await lab.cni("ADD", call));
  const seen = ip(["-n", call.netns.slice(call.netns.lastIndexOf("/") + 1), "addr", "show", "net1"]);
  expect(seen).toContain("10.254.7.9/24");
  expect(seen).toContain("02:12:34:56:78:9a");
  expect((await lab.cni("DEL", call)).exitCode).toBe(0);
  expect(await leftovers(lab)).toEqual([]);
});

test("the annotation's JSON numbers stay as they are written", async () => {
  await using lab = await startNode();
  const call = await podWith(lab, '[{"name":"lan","cni-args":{"big":9007199254740993,"f":1.0}}]');
  resultOf(await lab.cni("ADD", call));
  const second = await onlyCall(lab, "ADD", "second");
  expect(second.stdin).toContain('"big":9007199254740993');
  expect(stdinOf(second)["args"]).toMatchObject({ cni: { f: 1 } });
});
