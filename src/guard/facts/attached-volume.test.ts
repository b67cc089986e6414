import { expect, test } from "bun:test";
import { attachedVolume } from "./attached-volume.ts";

function specWith(...volumes: readonly object[]): Record<string, unknown> {
  return { template: { spec: { volumes } } };
}

test("attachedVolume finds none among volumes that the kubelet makes itself", () => {
  const own = ["configMap", "secret", "emptyDir", "hostPath", "projected", "downwardAPI", "image"];
  expect(attachedVolume(specWith(...own.map((kind) => ({ name: kind, [kind]: {} }))))).toBeUndefined();
  expect(attachedVolume({})).toBeUndefined();
});

for (const kind of ["persistentVolumeClaim", "ephemeral", "csi", "nfs", "iscsi", "awsElasticBlockStore", "newKind"]) {
  test(`attachedVolume finds a volume of the kind ${kind}`, () => {
    expect(attachedVolume(specWith({ name: "tmp", emptyDir: {} }, { name: "data", [kind]: {} }))).toBe("data");
  });
}

test("attachedVolume finds the claims that a StatefulSet makes for its pods", () => {
  expect(attachedVolume({ ...specWith(), volumeClaimTemplates: [{ metadata: { name: "data" } }] })).toBe("data");
});
