import { expect, test } from "bun:test";
import { checkMigration } from "./check-migration.ts";
import { findMultus } from "./find-multus.ts";
import type { KubeObject } from "../../kube-object.ts";

/** RKE2's packaged Multus: the names of its chart, and images of its own. */
function rke2(name: string, container: object): KubeObject {
  return {
    kind: "DaemonSet",
    metadata: { namespace: "kube-system", name, labels: { app: "rke2-multus" } },
    spec: { selector: { matchLabels: { app: "rke2-multus" } }, template: { spec: { containers: [container] } } },
  };
}

const thin = {
  name: "kube-rke2-multus",
  image: "rancher/hardened-multus-cni:v4.2.2-build1",
  command: ["/thin_entrypoint"],
};
const thick = {
  name: "kube-multus",
  image: "rancher/hardened-multus-thick:v4.2.2-build1",
  command: ["/usr/src/multus-cni/bin/multus-daemon"],
};

test.each([
  ["rke2-multus", thin, false],
  ["rke2-multus-ds", thin, false],
  ["rke2-multus", thick, true],
])("findMultus knows RKE2's %s with %j", (name, container, isThick) => {
  expect(findMultus([rke2(name, container)])).toMatchObject([{ isThick, version: "4.2.2" }]);
});

test.each([thin, thick])("checkMigration says what puts RKE2's Multus back: %j", (container) => {
  const blocking = checkMigration([rke2("rke2-multus", container)]).filter(({ level }) => level === "blocks");
  expect(blocking[0]?.remedy).toContain("remove multus from cni: in RKE2's configuration, or RKE2 restores it");
});

test("findMultus leaves RKE2's whereabouts alone", () => {
  const container = { name: "whereabouts", image: "rancher/hardened-whereabouts:v0.9.2" };
  expect(findMultus([rke2("rke2-multus-rke2-whereabouts", container)])).toEqual([]);
});
