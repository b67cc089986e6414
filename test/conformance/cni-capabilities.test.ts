// CNI conventions and NPWG 4.1: a pod's request reaches the plugins that declare the capability; a request that none serves fails the attachment.
import { expect, test } from "bun:test";
import type { Lab } from "../lab/lab.ts";
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
} from "./node.ts";

const requests = {
  "ips": ["10.1.1.5/24", "fd00::5/64"],
  "mac": "02:11:22:33:44:55",
  "portMappings": [
    { hostPort: 8080, containerPort: 80, protocol: "tcp" },
    { hostPort: 53, containerPort: 53, protocol: "udp", hostIP: "127.0.0.1" },
  ],
  "bandwidth": { ingressRate: 2048, ingressBurst: 1600, egressRate: 4096, egressBurst: 1600 },
  "infiniband-guid": "c2:11:22:33:44:55:66:77",
};
const capabilities = { ips: true, mac: true, portMappings: true, bandwidth: true, infinibandGUID: true };

async function podAsking(
  lab: Lab,
  element: Record<string, unknown>,
  declared: Record<string, boolean>,
): Promise<Parameters<Lab["cni"]>[1]> {
  await lab.network("lan", {
    cniVersion: "1.0.0",
    name: "lan",
    plugins: [lab.conf("second"), { ...lab.conf("third"), capabilities: declared }],
  });
  await lab.pod("web", { [networksAnnotation]: JSON.stringify([{ name: "lan", ...element }]) });
  return { containerId: containerId("asks"), netns: lab.netns("a"), args: lab.podArgs("web") };
}

test("every request reaches the plugin that declares it, and no other, at ADD and at DEL", async () => {
  await using lab = await startNode();
  const call = await podAsking(lab, requests, capabilities);
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("DEL", call));
  const { "infiniband-guid": infinibandGUID, ...rest } = requests;
  for (const verb of ["ADD", "DEL"]) {
    expect(stdinOf(await onlyCall(lab, verb, "third"))["runtimeConfig"]).toEqual({ ...rest, infinibandGUID });
    expect(stdinOf(await onlyCall(lab, verb, "second"))["runtimeConfig"]).toBeUndefined();
  }
  expect(await leftovers(lab)).toEqual([]);
});

const { ips, mac, ...declaredOnly } = requests;

for (const [key, value] of Object.entries(declaredOnly)) {
  test(`${key} without a plugin that declares it fails with code 2 before anything runs`, async () => {
    await using lab = await startNode();
    const call = await podAsking(lab, { [key]: value }, {});
    const error = errorOf(await lab.cni("ADD", call));
    expect(error.code).toBe(2);
    expect(error.msg).toContain(`"${key}"`);
    expect(await lab.calls()).toEqual([]);
    expect(await leftovers(lab)).toEqual([]);
  });
}

// Both reach every plugin by CNI_ARGS too, and many serve them from there: the result shows whether they did.
for (const [key, value] of Object.entries({ ips, mac })) {
  test(`${key} that nobody declares and the result does not show fails with code 2, and what ran is undone`, async () => {
    await using lab = await startNode();
    const error = errorOf(await lab.cni("ADD", await podAsking(lab, { [key]: value }, {})));
    expect(error).toMatchObject({ code: 2, msg: expect.stringContaining(`declare no capability "${key}"`) as string });
    const calls = (await lab.calls()).map(({ plugin, command }) => `${plugin} ${command}`);
    expect(calls.filter((each) => each.endsWith("ADD")).length).toBe(
      calls.filter((each) => each.endsWith("DEL")).length,
    );
    expect(await leftovers(lab)).toEqual([]);
  });
}

test("ips and mac that a plugin serves by CNI_ARGS need no capability", async () => {
  await using lab = await startNode();
  const call = await podAsking(lab, { ips, mac }, {});
  const result = {
    cniVersion: "1.0.0",
    interfaces: [{ name: "net1", mac: mac.toUpperCase(), sandbox: call.netns }],
    ips: ips.map((address) => ({ address, interface: 0 })),
  };
  await lab.answer("third.ADD", JSON.stringify(result));
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("DEL", call));
});

test("a capability that is declared false does not count", async () => {
  await using lab = await startNode();
  const { bandwidth } = requests;
  const call = await podAsking(lab, { bandwidth }, { bandwidth: false });
  expect(errorOf(await lab.cni("ADD", call))).toMatchObject({ code: 2 });
});

test("a deviceID in the annotation reaches runtimeConfig with the file for device facts", async () => {
  await using lab = await startNode();
  const call = await podAsking(lab, { deviceID: "0000:03:02.1" }, { deviceID: true, CNIDeviceInfoFile: true });
  resultOf(await lab.cni("ADD", call));
  expect(stdinOf(await onlyCall(lab, "ADD", "third"))["runtimeConfig"]).toEqual({
    deviceID: "0000:03:02.1",
    CNIDeviceInfoFile: `/var/run/k8s.cni.cncf.io/devinfo/cni/default-lan-${call.containerId}_net1`,
  });
});
