/** Devices by claims with Levee and with a Multus of its main branch, whose program a person hands in. */
import { expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CniOutcome } from "../lab/lab.ts";
import {
  claim,
  deviceNetwork,
  devicesGiven,
  podWith,
  podWithResources,
  published,
  StandInKubelet,
  vfs,
  type Given,
  type Mappings,
} from "./compat/claims-scene.ts";
import { CompatCluster, node } from "./compat/compat-cluster.ts";
import { givenMultusHead, MultusNode } from "./compat/compat-multus-node.ts";
import { applyAll } from "./manifests.ts";
import { needsServer } from "./needs-server.ts";
import { adminToken } from "./policy-server.ts";

const bin = givenMultusHead();
const missing = bin === undefined ? "LEVEE_MULTUS_HEAD names no multus-daemon of Multus' main branch" : undefined;
const { group, beforeAll, afterAll } = needsServer("claims-multus", missing);
const kubeletFolder = "/var/lib/kubelet";

let cluster: CompatCluster;
let multus: MultusNode;
let kubelets: readonly StandInKubelet[];
let primary: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  const own = await StandInKubelet.start();
  // Without it, Kubernetes before 1.36 drops a pod's extendedResourceClaimStatus.
  cluster = await CompatCluster.start({ kubeletDir: own.folder }, ["DRAExtendedResource"]);
  // The first one makes /run/netns a mount, which Multus' own /run needs.
  cluster.lab.netns("first");
  multus = new MultusNode(cluster.lab, { ownFolders: [kubeletFolder], bin: bin ?? "" });
  kubelets = [own, await StandInKubelet.start(multus.ownFolder(kubeletFolder))];
  const accountFolder = cluster.lab.path("multus-account");
  await mkdir(accountFolder);
  await writeFile(join(accountFolder, "token"), adminToken);
  await writeFile(join(accountFolder, "ca.crt"), await Bun.file(cluster.server.caFile).text());
  await writeFile(join(accountFolder, "namespace"), "default");
  await multus.start({ accountFolder, apiPort: cluster.apiPort, node });
  await deviceNetwork(cluster, "vf", { "k8s.v1.cni.cncf.io/resourceName": "intel.com/vf" });
  await deviceNetwork(cluster, "other", { "k8s.v1.cni.cncf.io/resourceName": "intel.com/other" });
  const far = published("far", { "vf-far": ["0000:09:00.1", "intel.com/vf"] }, { pool: "node1-far" });
  await applyAll(cluster.api, [
    published("vfs", { ...vfs, "vf-o": ["0000:03:02.7", "intel.com/other"] }),
    published("gpus", { gpu: [] }, { driver: "gpu.example" }),
    { ...far, spec: { ...(far["spec"] as object), nodeName: "another-node" } },
  ]);
  primary = { delegates: [{ cniVersion: "1.0.0", name: "primary", ...cluster.lab.conf("first") }] };
}, 120_000);

afterAll(async () => {
  await multus.stop();
  await cluster.stop();
  await kubelets[0]?.[Symbol.asyncDispose]();
}, 60_000);

interface Case {
  readonly what: string;
  /** Undefined: the claim does not exist. */
  readonly given: Given | undefined;
  readonly networks: string;
  readonly allotted?: string[];
  /** The claim stands behind the pod's extended resources. */
  readonly mappings?: Mappings;
  /** The devices that both give, or that both refuse. */
  readonly devices: readonly (string | undefined)[] | "refused";
}

const [one, two, three] = ["0000:03:02.1", "0000:03:02.2", "0000:03:02.3"];
const cases: readonly Case[] = [
  { what: "one device", given: [["r", "vf-2"]], networks: "vf", devices: [two] },
  {
    what: "an order of their own",
    given: [
      ["r", "vf-3"],
      ["r", "vf-1"],
    ],
    networks: "vf,vf",
    devices: [one, three],
  },
  {
    what: "two resources in one claim",
    given: [
      ["r", "vf-3"],
      ["o", "vf-o"],
    ],
    networks: "other,vf",
    devices: ["0000:03:02.7", three],
  },
  {
    what: "one list with the device plugin's",
    given: [
      ["r", "vf-3"],
      ["r", "vf-1"],
    ],
    networks: "vf,vf,vf",
    allotted: [two],
    devices: [one, two, three],
  },
  {
    what: "devices that are not for networks, in no slice, or on another node",
    given: [
      ["x", "vf-x"],
      ["g", "gpu", "gpu.example"],
      ["n", "none"],
      ["f", "vf-far"],
      ["r", "vf-2"],
    ],
    networks: "vf",
    devices: [two],
  },
  { what: "fewer devices than networks", given: [["r", "vf-2"]], networks: "vf,vf", devices: [two, undefined] },
  { what: "no device of the resource", given: [["g", "gpu", "gpu.example"]], networks: "vf", devices: [undefined] },
  { what: "a claim without devices yet", given: [], networks: "vf", devices: "refused" },
  { what: "a claim that does not exist", given: undefined, networks: "vf", devices: "refused" },
  {
    what: "extended resources by a claim, of which only mapped requests count",
    given: [
      ["r", "vf-3"],
      ["r", "vf-1"],
      ["g", "gpu", "gpu.example"],
    ],
    networks: "vf,vf",
    mappings: [["intel.com/vf", "r"]],
    devices: [one, three],
  },
  {
    what: "an extended resource whose device is not for networks",
    given: [
      ["r", "vf-2"],
      ["g", "gpu", "gpu.example"],
    ],
    networks: "vf",
    mappings: [
      ["intel.com/vf", "r"],
      ["example.com/gpu", "g"],
    ],
    devices: "refused",
  },
  {
    what: "an extended resource whose device is of another one",
    given: [["r", "vf-o"]],
    networks: "vf",
    mappings: [["intel.com/vf", "r"]],
    devices: "refused",
  },
];

group("devices by claims beside Multus", () => {
  test.each(cases.map((one, index) => ({ ...one, index })))(
    "$what",
    async ({ given, networks, allotted = [], mappings, devices, index }) => {
      const [name, claimName] = [`pod-${index}`, `pod-${index}-net`];
      if (given !== undefined) await claim(cluster, claimName, given);
      for (const kubelet of kubelets)
        kubelet.allotted = allotted.length === 0 ? {} : { [name]: [["intel.com/vf", [...allotted]]] };
      const pod = await (mappings === undefined
        ? podWith(cluster, name, claimName, networks)
        : podWithResources(cluster, name, claimName, { asked: networks, mappings }));
      const call = cluster.call(pod, primary);
      const theirs = await deed(() => multus.cni("ADD", cluster.call(pod, primary), primary));
      const ours = await deed(() => cluster.lab.cni("ADD", call));
      expect({ theirs, ours }).toEqual({ theirs: devices, ours: devices });
    },
    60_000,
  );
});

async function deed(add: () => Promise<CniOutcome>): Promise<readonly unknown[] | "refused"> {
  await cluster.lab.forgetCalls();
  const { exitCode } = await add();
  return exitCode === 0 ? await devicesGiven(cluster) : "refused";
}
