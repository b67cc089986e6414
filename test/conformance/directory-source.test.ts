// The embedded source: a watched folder of YAML and JSON; a broken file is reported and the last good one stays.
import { rm, writeFile } from "node:fs/promises";
import { expect, test } from "bun:test";
import type { NodeAnswer } from "../../src/wire/node-view.ts";
import type { CniOutcome, Lab } from "../lab/lab.ts";
import { leftovers } from "../lab/leftovers.ts";
import { containerId, errorOf, expectSilence, networksAnnotation, resultOf, startNode, story } from "./node.ts";

const network = (lab: Lab, name: string, plugin: string): string => `apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata:
  name: ${name}
spec:
  config: |
    { "cniVersion": "1.0.0", "name": "${name}", "type": "${plugin}", "controlDir": "${lab.path("control")}", "big": 9007199254740993 }
`;

const pod = (name: string, networks: string): string => `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
  namespace: default
  annotations:
    ${networksAnnotation}: ${networks}
`;

let counter = 0;

/** Attaches and detaches, and tells which plugins ran for net1. */
async function plugInOut(lab: Lab, name: string): Promise<readonly string[]> {
  counter += 1;
  await lab.forgetCalls();
  const call = { containerId: containerId(`dir${counter}x`), netns: lab.netns(`d${counter}`), args: lab.podArgs(name) };
  const outcome: CniOutcome = await lab.cni("ADD", call);
  await lab.cni("DEL", call);
  if (outcome.exitCode !== 0) return [errorOf(outcome).msg];
  return (await story(lab)).filter((step) => step.startsWith("ADD") && step.endsWith("net1"));
}

async function notices(lab: Lab): Promise<readonly string[]> {
  return (await lab.ask<NodeAnswer>({ ask: "node" })).notices;
}

test("YAML files are read, a change is seen, a removal too, and bytes in a config stay", async () => {
  await using lab = await startNode();
  await writeFile(lab.path("directory/networks/lan.yaml"), network(lab, "lan", "second"));
  await writeFile(lab.path("directory/pods/web.yaml"), pod("web", "lan"));
  expect(await plugInOut(lab, "web")).toEqual(["ADD second net1"]);
  const [add] = (await lab.calls()).filter((call) => call.plugin === "second");
  expect(add?.stdin).toContain('"big": 9007199254740993');

  await writeFile(lab.path("directory/networks/lan.yaml"), network(lab, "lan", "third"));
  await lab.until("the change is seen", async () =>
    (await plugInOut(lab, "web"))[0] === "ADD third net1" ? true : undefined,
  );
  await rm(lab.path("directory/networks/lan.yaml"));
  await lab.until("the removal is seen", async () =>
    (await plugInOut(lab, "web"))[0]?.includes("cannot find a network-attachment-definition") ? true : undefined,
  );
  expect(await leftovers(lab)).toEqual([]);
});

test("a file that breaks is reported, and its last good content stays in force", async () => {
  await using lab = await startNode();
  await writeFile(lab.path("directory/networks/lan.yaml"), network(lab, "lan", "second"));
  await writeFile(lab.path("directory/pods/web.yaml"), pod("web", "lan"));
  expect(await plugInOut(lab, "web")).toEqual(["ADD second net1"]);
  await writeFile(lab.path("directory/networks/lan.yaml"), "kind: [\n");
  await lab.until("the problem is told", async () =>
    (await notices(lab)).some((notice) => notice.includes("lan.yaml")) ? true : undefined,
  );
  expect(await plugInOut(lab, "web")).toEqual(["ADD second net1"]);
  await writeFile(lab.path("directory/networks/lan.yaml"), network(lab, "lan", "third"));
  await lab.until("it is mended", async () =>
    (await notices(lab)).every((notice) => !notice.includes("lan.yaml")) ? true : undefined,
  );
  expect(await plugInOut(lab, "web")).toEqual(["ADD third net1"]);
});

test("several documents in one file are all served", async () => {
  await using lab = await startNode();
  await writeFile(
    lab.path("directory/all.yaml"),
    [network(lab, "lan", "second"), pod("one", "lan"), pod("two", "lan")].join("---\n"),
  );
  await writeFile(lab.path("directory/pods/all.yaml"), [pod("one", "lan"), pod("two", "lan")].join("---\n"));
  await writeFile(
    lab.path("directory/networks/all.yaml"),
    [network(lab, "lan", "second"), network(lab, "dmz", "third")].join("---\n"),
  );
  for (const name of ["one", "two"]) expect(await plugInOut(lab, name)).toEqual(["ADD second net1"]);
});

test("a pod whose file is gone can still be deleted", async () => {
  await using lab = await startNode();
  await lab.network("lan", { cniVersion: "1.0.0", ...lab.conf("second") });
  await lab.pod("web", { [networksAnnotation]: "lan" });
  const call = { containerId: containerId("gone"), netns: lab.netns("a"), args: lab.podArgs("web") };
  resultOf(await lab.cni("ADD", call));
  await rm(lab.path("directory/pods/default.web.json"));
  await rm(lab.path("directory/networks/default.lan.json"));
  await Bun.sleep(200);
  expectSilence(await lab.cni("DEL", call));
  expect(await story(lab)).toEqual(["ADD first eth0", "ADD second net1", "DEL second net1", "DEL first eth0"]);
  expect(await leftovers(lab)).toEqual([]);
});

test("a pod with another UID than the runtime's is refused, a static pod is not", async () => {
  await using lab = await startNode({ settings: { addLookupMs: 200 } });
  const withUid = (name: string, more: string): string =>
    `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n  uid: uid-1\n${more}`;
  await writeFile(lab.path("directory/pods/a.yaml"), withUid("plain", ""));
  await writeFile(
    lab.path("directory/pods/b.yaml"),
    withUid("static", "  annotations:\n    kubernetes.io/config.source: file\n"),
  );
  const add = (name: string, uid: string): Promise<CniOutcome> => {
    counter += 1;
    return lab.cni("ADD", {
      containerId: containerId(`uid${counter}x`),
      netns: lab.netns(`u${counter}`),
      args: `${lab.podArgs(name)};K8S_POD_UID=${uid}`,
    });
  };
  resultOf(await add("plain", "uid-1"));
  resultOf(await add("static", "uid-2"));
  expect(errorOf(await add("plain", "uid-2"))).toMatchObject({ code: 100, msg: expect.stringContaining("uid-2") });
});
