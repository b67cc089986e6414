/** `levee check` and `levee status` find the daemons of every way in, by what the manifests and the chart render. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "bun:test";
import { parseAllDocuments } from "yaml";
import { cniDaemonSet } from "../../src/cli/cluster/cni-daemon-set.ts";
import { builtHelm } from "../../test/peers/helm.ts";
import { renderFolder } from "./kustomization.ts";

const root = resolve(import.meta.dir, "../..");
const helm = builtHelm();

function read(path: string): string | undefined {
  const full = join(root, path);
  return existsSync(full) ? readFileSync(full, "utf8") : undefined;
}

/** What the commands find, as `part namespace/name`. */
function found(objects: readonly unknown[]): readonly string[] {
  return objects
    .filter((object) => (object as { kind?: string } | null)?.kind === "DaemonSet") // our own manifests
    .flatMap((object) => cniDaemonSet(object, []) ?? [])
    .map(({ part, namespace, name }) => `${part} ${namespace}/${name}`)
    .toSorted();
}

const usual = ["daemon levee-system/levee", "hand levee-system/levee-hand"];

test.each([
  ["base", usual],
  ["overlays/k3s", usual],
  ["overlays/openshift", usual],
  ["overlays/uninstall", usual],
  ["overlays/multus-drop-in", ["daemon kube-system/kube-multus-ds", "hand kube-system/levee-hand"]],
  ["overlays/multus-drop-in-uninstall", ["daemon kube-system/kube-multus-ds", "hand kube-system/levee-hand"]],
])("deploy/%s: both parts are found", (folder, expected) => {
  expect(found(renderFolder(`deploy/${folder}`, read).map((object) => object.toJS() as unknown))).toEqual(expected);
});

test("Multus' own manifest, to which the way back leads, is found as Multus", () => {
  const text = read("src/cli/move-in/migrate/fixtures/multus-v4.2.2.yaml") ?? "";
  expect(found(parseAllDocuments(text).map((document) => document.toJS() as unknown))).toEqual([
    "multus kube-system/kube-multus-ds",
  ]);
});

describe.skipIf(helm === undefined)("the chart", () => {
  test("under another release name and in another namespace: both parts are found", () => {
    const digest = `--set=image.digest=sha256:${"1".repeat(64)}`;
    const args = ["template", "net", join(root, "deploy/helm/levee"), "-n", "networking", "--kube-version=1.34.5"];
    const { stdout, stderr } = spawnSync(helm ?? "", [...args, digest], { encoding: "utf8" });
    expect(stderr).toBe("");
    const objects = parseAllDocuments(stdout).map((document) => document.toJS() as unknown);
    expect(found(objects)).toEqual(["daemon networking/levee", "hand networking/levee-hand"]);
  });
});
