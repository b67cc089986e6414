import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { slice } from "../../kube/claims/slices.fixture.ts";
import { fakeShell } from "../fake-shell.fixture.ts";
import { runCli } from "../main.ts";
import { network } from "./lint-cases.fixture.ts";
import { scriptedCluster, type ClusterLists } from "./scripted-cluster.fixture.ts";

const [networks, slices] = [
  "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions",
  "/apis/resource.k8s.io/v1/resourceslices",
];
const nodes = [{ metadata: { name: "n" }, status: { capacity: { "cpu": "1", "a/c": "4" } } }];
const given = [
  definition("offered", "a/c"),
  definition("plugin", "a/b"),
  definition("published", "vf.example/red"),
  definition("named", "one-claim"),
  definition("made", "made-claim"),
  definition("lost", "lost-claim"),
  definition("request", "vf.example/blue", { "levee.dev/device-request": "net/blue" }),
];
/** It has ended, so nothing else is said of it; but its claims show what the networks mean. */
const pod = {
  metadata: { name: "a", namespace: "prod", annotations: { "k8s.v1.cni.cncf.io/networks": "named,made" } },
  spec: {
    resourceClaims: [
      { name: "x", resourceClaimName: "one-claim" },
      { name: "y", resourceClaimTemplateName: "t" },
    ],
  },
  status: { phase: "Succeeded", resourceClaimStatuses: [{ name: "y", resourceClaimName: "made-claim" }] },
};
const red = slice("n-1", { gpu: [], vf: ["0000:03:02.1", "vf.example/red"] });

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-lint-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function definition(name: string, resource: string, more: object = {}): object {
  const annotations = { "k8s.v1.cni.cncf.io/resourceName": resource, ...more };
  const config = '{"cniVersion": "1.0.0", "type": "sriov"}';
  return { metadata: { name, namespace: "prod", annotations }, spec: { config } };
}

/** The networks of LVN0701, then what could not be read of the slices. */
async function lacked(argv: readonly string[], lists: ClusterLists): Promise<readonly string[]> {
  const { server, options } = await scriptedCluster(folder, {
    [networks]: given,
    "/api/v1/nodes": nodes,
    "/api/v1/pods": [pod],
    ...lists,
  });
  const shell = fakeShell({ argv: ["lint", ...argv, ...options] });
  await runCli(shell);
  await server.close();
  const lines = shell.stdout.text.split("\n");
  const found = lines.flatMap((line) => /LVN0701 \w+ prod\/(?<name>\w+)/u.exec(line)?.groups?.["name"] ?? []);
  return [...found, ...lines.filter((line) => line.includes("ResourceSlices"))];
}

test("knows resources that drivers publish, claims that pods name, and definitions that name a request", async () => {
  expect(await lacked(["-A"], { [slices]: [red] })).toEqual(["lost", "plugin"]);
  expect(await lacked(["-A"], { [slices]: [] })).toEqual(["lost", "plugin", "published"]);
});

test("compares files with the cluster's slices and its pods' claims", async () => {
  const path = join(folder, "net.yaml");
  const found: Record<string, readonly string[]> = {};
  for (const resource of ["vf.example/red", "vf.example/green", "one-claim", "lost-claim"]) {
    const annotations = `k8s.v1.cni.cncf.io/resourceName: ${resource}`;
    writeFileSync(path, network('{"cniVersion": "1.0.0", "type": "sriov"}', { annotations }));
    found[resource] = await lacked([path, "--against-cluster"], { [networks]: [], [slices]: [red] });
  }
  expect(found).toEqual({ "vf.example/red": [], "vf.example/green": ["lan"], "one-claim": [], "lost-claim": ["lan"] });
});

test("says nothing of what may be a claim's name where the pods of other namespaces are not known", async () => {
  const prod = { "/api/v1/namespaces/prod/pods": [], [slices]: [] };
  expect(await lacked(["-n", "prod"], prod)).toEqual(["plugin", "published"]);
  expect(await lacked(["-A"], { "/api/v1/pods": 403, [slices]: [] })).toEqual(["plugin", "published"]);
});

test("says nothing where slices are forbidden or not known, and does not ask for them without need", async () => {
  expect(await lacked(["-A"], { [slices]: 403 })).toEqual(["not looked at: ResourceSlices (forbidden)"]);
  expect(await lacked(["-A"], {})).toEqual(["not looked at: ResourceSlices (not known to this API server)"]);
  expect(await lacked(["-A"], { [networks]: given.slice(0, 1), [slices]: 403 })).toEqual([]);
});
