// Multus B: what Multus attached before us is deleted by us, with the plugins' own bytes, arguments and results.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "bun:test";
import type { Lab } from "../lab/lab.ts";
import { filesIn, leftovers } from "../lab/leftovers.ts";
import { writeMultusCache, type MultusVersion } from "./multus-cache.ts";
import {
  attachments,
  containerId,
  errorOf,
  expectSilence,
  leaks,
  networksAnnotation,
  onlyCall,
  startNode,
  stdinOf,
  story,
} from "./node.ts";

const id = containerId("multus");
const odd = `"server_socket":"/run/x.sock","big":9007199254740993,"mtu":1500.0,"k":1,"k":2`;

function plugin(lab: Lab, type: string, more = ""): string {
  return `{"type":"${type}","controlDir":"${lab.path("control")}",${odd}${more}}`;
}

/** A node on which Multus has attached one pod to a list and to a single conf. */
function multusNode(version: MultusVersion): Promise<Lab> {
  return startNode({
    prepare: (lab) =>
      writeMultusCache(lab, version, {
        id,
        netns: lab.netns("a"),
        networks: [
          {
            name: "pod-network",
            ifname: "eth0",
            plugins: [plugin(lab, "first"), plugin(lab, "second", `,"capabilities":{"portMappings":true}`)],
            isList: true,
            cniVersion: "1.0.0",
            result: `{"cniVersion":"1.0.0","ips":[{"address":"10.1.0.9/32"}],"serial":9007199254740993}`,
            capabilityArgs: `{"portMappings":[{"hostPort":80,"containerPort":80}]}`,
          },
          {
            name: "lan",
            ifname: "net1",
            plugins: [plugin(lab, "third")],
            isList: false,
            cniVersion: "0.4.0",
            result: `{"cniVersion":"0.4.0","ips":[{"version":"4","address":"10.2.0.9/24"}]}`,
          },
        ],
      }),
  });
}

function netnsOf(lab: Lab): string {
  return `/var/run/netns/lab-${lab.id}-a`;
}

for (const version of ["v4.2.2", "v4.3.0", "newest"] as const) {
  test(`a cache of Multus ${version}: DEL runs every plugin in reverse with its own bytes and result`, async () => {
    await using lab = await multusNode(version);
    expect(
      (await attachments(lab)).map(
        ({ pod, phase, networks }) => `${pod} ${phase} ${networks.map(({ ifname }) => ifname).join("+")}`,
      ),
    ).toEqual(["web attached eth0+net1"]);
    expectSilence(await lab.cni("DEL", { containerId: id, netns: netnsOf(lab), args: lab.podArgs("web") }));
    expect(await story(lab)).toEqual(["DEL third net1", "DEL second eth0", "DEL first eth0"]);
    for (const name of ["first", "second", "third"]) {
      const call = await onlyCall(lab, "DEL", name);
      expect(call.stdin).toContain(odd);
      expect(call.env).toMatchObject({ CNI_NETNS: netnsOf(lab), CNI_CONTAINERID: id });
      expect(call.env["CNI_ARGS"]).toBe(
        `IgnoreUnknown=true;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_INFRA_CONTAINER_ID=${id};K8S_POD_UID=uid-7`,
      );
    }
    const first = await onlyCall(lab, "DEL", "first");
    expect(first.stdin).toContain('"serial":9007199254740993');
    expect(stdinOf(first)).toMatchObject({
      name: "pod-network",
      cniVersion: "1.0.0",
      prevResult: { ips: [{ address: "10.1.0.9/32" }] },
    });
    expect(stdinOf(await onlyCall(lab, "DEL", "second"))["runtimeConfig"]).toEqual({
      portMappings: [{ hostPort: 80, containerPort: 80 }],
    });
    expect(stdinOf(await onlyCall(lab, "DEL", "third"))).toMatchObject({
      name: "lan",
      cniVersion: "0.4.0",
      prevResult: { ips: [{ address: "10.2.0.9/24" }] },
    });
    expect(await leftovers(lab)).toEqual([]);
  });
}

test("it is taken over once: a second start does not bring back what was deleted", async () => {
  await using lab = await multusNode("v4.2.2");
  expectSilence(await lab.cni("DEL", { containerId: id, netns: netnsOf(lab) }));
  await lab.killDaemon();
  await lab.startDaemon();
  expect(await attachments(lab)).toEqual([]);
  expectSilence(await lab.cni("DEL", { containerId: id, netns: netnsOf(lab) }));
  expect(await lab.calls()).toHaveLength(3);
});

test("what Multus attached after the take-over, on a node that went back to it for a while, is deleted from its cache too", async () => {
  await using lab = await startNode();
  const netns = lab.netns("a");
  const network = { name: "lan", ifname: "eth0", isList: false, cniVersion: "1.0.0" };
  const result = `{"cniVersion":"1.0.0","ips":[{"address":"10.2.0.9/24"}]}`;
  const networks = [{ ...network, plugins: [plugin(lab, "third")], result }];
  await writeMultusCache(lab, "v4.3.0", { id, netns, networks });
  expectSilence(await lab.cni("DEL", { containerId: id, netns, args: lab.podArgs("web") }));
  expect(await story(lab)).toEqual(["DEL third eth0"]);
  expect((await onlyCall(lab, "DEL", "third")).stdin).toContain(odd);
  expectSilence(await lab.cni("DEL", { containerId: id, netns, args: lab.podArgs("web") }));
  expect(await lab.calls()).toHaveLength(1);
  expect(await leftovers(lab)).toEqual([]);
});

// Multus puts a device that the kubelet allotted into the configuration, and one that the pod names into runtimeConfig only.
test.each([
  ["the kubelet allotted", `,"deviceID":"d1","pciBusID":"d1"`],
  ["the pod names", ""],
])("a device that %s reaches the plugin at DEL as it did at ADD", async (_who, inConf) => {
  await using lab = await startNode({
    prepare: (lab) =>
      writeMultusCache(lab, "v4.3.0", {
        id,
        netns: lab.netns("a"),
        networks: [
          {
            ...{ name: "lan", ifname: "eth0", isList: false, cniVersion: "1.0.0", deviceID: "d1" },
            plugins: [plugin(lab, "third", `${inConf},"capabilities":{"deviceID":true}`)],
            result: `{"cniVersion":"1.0.0"}`,
            capabilityArgs: `{"deviceID":"d1"}`,
          },
        ],
      }),
  });
  expectSilence(await lab.cni("DEL", { containerId: id, netns: netnsOf(lab) }));
  const { stdin } = await onlyCall(lab, "DEL", "third");
  expect(stdin).toContain(`"k":2${inConf},`);
  const keys = stdin.match(/"(?:deviceID|pciBusID|runtimeConfig)":/gu)?.toSorted();
  expect(keys).toEqual(
    inConf === ""
      ? ['"deviceID":', '"runtimeConfig":']
      : ['"deviceID":', '"deviceID":', '"pciBusID":', '"runtimeConfig":'],
  );
});

test("an ADD for a container that Multus has attached already is refused", async () => {
  await using lab = await multusNode("v4.2.2");
  expect(errorOf(await lab.cni("ADD", { containerId: id, netns: netnsOf(lab) }))).toMatchObject({ code: 103 });
  expect(await lab.calls()).toEqual([]);
});

test("a namespace that is gone since is not handed to the plugins", async () => {
  await using lab = await multusNode("v4.3.0");
  lab.deleteNetns(netnsOf(lab));
  expectSilence(await lab.cni("DEL", { containerId: id, netns: netnsOf(lab) }));
  for (const call of await lab.calls()) expect(call.env["CNI_NETNS"] ?? "").toBe("");
  expect(await leftovers(lab)).toEqual([]);
});

for (const [what, scratch] of [
  ["empty", ""],
  ["junk", "{{{"],
  ["an empty list", "[]"],
  ["null", "null"],
] as const) {
  test(`a scratch file that is ${what}: DEL works out the networks from the pod, and cleans up`, async () => {
    await using lab = await startNode({
      prepare: async (lab) => {
        await mkdir(lab.cniDir, { recursive: true });
        await writeFile(join(lab.cniDir, id), scratch);
      },
    });
    await lab.network("lan", { cniVersion: "1.0.0", ...lab.conf("second") });
    await lab.pod("web", { [networksAnnotation]: "lan" });
    await lab.until("the pod was read", async () => {
      const probe = {
        containerId: containerId("probe"),
        netns: lab.netns(`p${Math.floor(performance.now())}`),
        args: lab.podArgs("web"),
      };
      const { exitCode } = await lab.cni("ADD", probe);
      await lab.cni("DEL", probe);
      return exitCode === 0 || undefined;
    });
    await lab.forgetCalls();
    expectSilence(await lab.cni("DEL", { containerId: id, netns: lab.netns("a"), args: lab.podArgs("web") }));
    expect(await story(lab)).toEqual(["DEL second net1", "DEL first eth0"]);
    expect(await leftovers(lab)).toEqual([]);
    expectSilence(await lab.cni("DEL", { containerId: id, args: lab.podArgs("web") }));
    expect(await lab.calls()).toHaveLength(2);
  });
}

test("a broken scratch file beside good results: the results tell what to delete", async () => {
  await using lab = await startNode({
    prepare: async (lab) => {
      const network = {
        name: "lan",
        ifname: "eth0",
        plugins: [plugin(lab, "third")],
        isList: false,
        cniVersion: "0.4.0",
        result: `{"cniVersion":"0.4.0"}`,
      };
      await writeMultusCache(lab, "v4.2.2", { id, netns: lab.netns("a"), networks: [network] });
      await writeFile(join(lab.cniDir, id), "");
    },
  });
  expectSilence(await lab.cni("DEL", { containerId: id, netns: netnsOf(lab) }));
  expect(await story(lab)).toEqual(["DEL third eth0"]);
  expect((await onlyCall(lab, "DEL", "third")).stdin).toContain(odd);
  expect(await filesIn(lab.cniDir)).toEqual([]);
});

test("neither cache nor pod: the default network is deleted, and the loss is written down", async () => {
  await using lab = await startNode({
    prepare: async (lab) => {
      await mkdir(lab.cniDir, { recursive: true });
      await writeFile(join(lab.cniDir, id), "{{{");
    },
  });
  expectSilence(await lab.cni("DEL", { containerId: id, args: lab.podArgs("gone") }));
  expect(await story(lab)).toEqual(["DEL first eth0"]);
  expect((await leaks(lab)).map(({ containerId: leaked }) => leaked)).toEqual([id]);
});
