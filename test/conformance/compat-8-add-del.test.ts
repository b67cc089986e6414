// Multus' ADD and DEL: the runtime's answer and the plugins' stdin byte by byte, in every version of CNI.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { CniCall, Lab } from "../lab/lab.ts";
import { leftovers } from "../lab/leftovers.ts";
import { resultCases } from "./compat-8-results.ts";
import { errorOf, expectSilence, networksAnnotation, onlyCall, resultOf, startNode, story } from "./node.ts";

let lab: Lab;
let count = 0;

beforeAll(async () => {
  lab = await startNode({ prepare: (made) => made.configure({}) });
});

afterAll(async () => {
  const left = await leftovers(lab);
  await lab.remove();
  expect(left).toEqual([]);
});

async function callWith(conf: Readonly<Record<string, unknown>>, annotation = ""): Promise<CniCall> {
  count += 1;
  await lab.forgetCalls();
  await lab.pod(`pod-${count}`, annotation === "" ? {} : { [networksAnnotation]: annotation });
  const args = `${lab.podArgs(`pod-${count}`)};K8S_POD_INFRA_CONTAINER_ID=i;K8S_POD_UID=`;
  return { containerId: `c${count}`, netns: lab.netns(String(count)), args, conf: lab.shimConf(conf) };
}

for (const { what, version, networkVersion = version, answer, printed } of resultCases) {
  test(`the runtime reads ${what}`, async () => {
    const call = await callWith({
      cniVersion: version,
      delegates: [
        { cniVersion: networkVersion, name: "one", ...lab.conf("first") },
        { cniVersion: networkVersion, name: "two", ...lab.conf("second") },
      ],
    });
    const netns = call.netns ?? "";
    await lab.answer("first.ADD", JSON.stringify(answer).replaceAll("NETNS", netns));
    await lab.answer("second.ADD", JSON.stringify({ cniVersion: networkVersion }));
    const outcome = await lab.cni("ADD", call);
    resultOf(outcome);
    expect(outcome.stdout).toBe(printed.replaceAll("NETNS", netns));
    expectSilence(await lab.cni("DEL", call));
    expect(await story(lab)).toEqual(["ADD first eth0", "ADD second net1", "DEL second net1", "DEL first eth0"]);
  });
}

const element = {
  name: "ports",
  mac: "c2:11:22:33:44:66",
  ips: ["10.0.0.1"],
  bandwidth: { ingressRate: 2048, ingressBurst: 1600, egressRate: 4096, egressBurst: 1600 },
  portMappings: [
    { hostPort: 8080, containerPort: 80, protocol: "tcp" },
    { hostPort: 8000, containerPort: 8001, protocol: "udp" },
  ],
};
/** In the order of Go's maps, each value with the bytes that it has in the annotation. */
const runtimeConfig = `{"bandwidth":${JSON.stringify(element.bandwidth)},"ips":["10.0.0.1"],"mac":"c2:11:22:33:44:66","portMappings":${JSON.stringify(element.portMappings)}}`;
const capabilities = { portMappings: true, bandwidth: true, mac: true, ips: true };

test("what an element asks for is in the plugin's stdin, byte for byte, at ADD and at DEL", async () => {
  const control = JSON.stringify(lab.path("control"));
  await lab.network("ports", { cniVersion: "1.0.0", name: "weave", ...lab.conf("third"), capabilities });
  const call = await callWith(
    { delegates: [{ cniVersion: "1.0.0", name: "one", ...lab.conf("first") }] },
    JSON.stringify([element]),
  );
  const result = `{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.1/24"}]}`;
  await lab.answer("third.ADD", result);
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("DEL", call));
  const [added, deleted] = [await onlyCall(lab, "ADD", "third"), await onlyCall(lab, "DEL", "third")];
  const given = `{"cniVersion":"1.0.0","name":"weave","type":"third","controlDir":${control},"runtimeConfig":${runtimeConfig}`;
  expect(added.stdin).toBe(`${given}}`);
  expect(deleted.stdin).toBe(`${given},"prevResult":${result}}`);
  const args = `IgnoreUnknown=true;K8S_POD_NAMESPACE=default;K8S_POD_NAME=pod-${count};K8S_POD_INFRA_CONTAINER_ID=i;K8S_POD_UID=;MAC=c2:11:22:33:44:66;IP=10.0.0.1`;
  expect([added.env["CNI_ARGS"], deleted.env["CNI_ARGS"]]).toEqual([args, args]);
});

test("in a list each plugin gets what it declares, and name, version and cni-args are put into each", async () => {
  const control = JSON.stringify(lab.path("control"));
  await lab.network("chained", {
    cniVersion: "0.3.1",
    plugins: [
      lab.conf("second", { capabilities: { mac: true }, args: { cni: { a: 1 } } }),
      lab.conf("third", { capabilities: { ips: true, bandwidth: false } }),
    ],
  });
  const asked = { "name": "chained", "mac": "c2:11:22:33:44:66", "ips": ["10.0.0.1/24"], "cni-args": { a: 2, b: "x" } };
  const call = await callWith(
    { delegates: [{ cniVersion: "1.0.0", name: "one", ...lab.conf("first") }] },
    JSON.stringify([asked]),
  );
  const result = `{"cniVersion":"0.3.1"}`;
  for (const plugin of ["second", "third"]) await lab.answer(`${plugin}.ADD`, result);
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("DEL", call));
  const second = `{"type":"second","controlDir":${control},"args":{"cni":{"a":2,"b":"x"}},"name":"chained","cniVersion":"0.3.1","runtimeConfig":{"mac":"c2:11:22:33:44:66"}}`;
  const third = `{"type":"third","controlDir":${control},"name":"chained","cniVersion":"0.3.1","runtimeConfig":{"ips":["10.0.0.1/24"]},"args":{"cni":{"a":2,"b":"x"}}}`;
  expect((await onlyCall(lab, "ADD", "second")).stdin).toBe(second);
  expect((await onlyCall(lab, "ADD", "third")).stdin).toBe(`${third.slice(0, -1)},"prevResult":${result}}`);
  // 0.3.1 knows no prevResult at DEL.
  expect((await onlyCall(lab, "DEL", "second")).stdin).toBe(second);
  expect((await onlyCall(lab, "DEL", "third")).stdin).toBe(third);
});

test("the second of two delegates fails: both are undone, and the plugin's words are told", async () => {
  const delegates = [
    { cniVersion: "1.0.0", name: "weave1", ...lab.conf("first") },
    { cniVersion: "1.0.0", name: "other1", ...lab.conf("second") },
  ];
  const call = await callWith({ delegates });
  await lab.answer("first.ADD", `{"cniVersion":"1.0.0"}`);
  await lab.script("second.ADD", `echo '{"cniVersion":"1.0.0","code":100,"msg":"expected plugin failure"}'; exit 1`);
  expect(errorOf(await lab.cni("ADD", call))).toEqual({
    cniVersion: "1.1.0",
    code: 100,
    msg: "other1 (net1): expected plugin failure",
  });
  await lab.unscript("second.ADD");
  expect(await story(lab)).toEqual(["ADD first eth0", "ADD second net1", "DEL second net1", "DEL first eth0"]);
});

test("a delegate without a name is refused, and nothing runs", async () => {
  const call = await callWith({ delegates: [{ cniVersion: "1.0.0", ...lab.conf("first") }] });
  expect(errorOf(await lab.cni("ADD", call)).msg).toBe(
    'Cannot use delegates[0]: key "name" must name the network: it is missing',
  );
  expect(await lab.calls()).toEqual([]);
});

test("a conf that is cut short is refused by the shim, and nothing runs", async () => {
  const call = await callWith({ delegates: [] });
  const outcome = await lab.cni("ADD", { ...call, conf: (call.conf ?? "").slice(0, -10) });
  expect(errorOf(outcome).code).toBe(6);
  expect(await lab.calls()).toEqual([]);
});
