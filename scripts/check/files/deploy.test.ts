import { expect, test } from "bun:test";
import { deployRule } from "./deploy.ts";
import { problemsIn } from "../planted.ts";

const zeros = "0".repeat(64);
const sources = {
  "deploy/base/kustomization.yaml": `resources: [a.yaml]\nimages: [{name: levee, newName: levee, digest: sha256:${zeros}}]\n`,
  "deploy/base/a.yaml": "kind: ConfigMap\nmetadata: {name: a}\n",
  "deploy/overlays/multus-drop-in/kustomization.yaml": "resources: [../../base]\n",
  "deploy/overlays/uninstall/kustomization.yaml": "resources: [../../base]\n",
  "deploy/guard/kustomization.yaml": "resources: [../base]\n",
  "deploy/alerts/alerts.source.yaml": "groups: []\n",
  "deploy/helm/levee/values.yaml": "alerts: {}\n",
  ...Object.fromEntries(
    ["cluster", "node", "pod"].map((name) => [`deploy/grafana/boards/${name}.yaml`, "variables: []\nrows: []\n"]),
  ),
  "deploy/grafana/kustomization.yaml": "resources: [config-maps.yaml]\n",
  "deploy/policies/kustomization.yaml": "resources: [a.yaml]\n",
  "deploy/policies/a.yaml": "kind: A\nmetadata: {name: a}\nspec: {}\n",
  "deploy/crd/kustomization.yaml": "resources: []\n",
  "deploy/alerts/kustomization.yaml": "resources: [prometheus-rule.yaml]\n",
  "examples/prod-vlan57/network.yaml": "kind: NetworkAttachmentDefinition\nmetadata: {name: a}\n",
  "examples/prod-vlan57/readiness.yaml": "kind: NetworkReadiness\nmetadata: {name: a}\n",
  "examples/prod-vlan57/root-disk.yaml": "kind: PersistentVolumeClaim\nmetadata: {name: a}\n",
  "examples/prod-vlan57/virtual-machine.yaml": "kind: VirtualMachine\nmetadata: {name: a}\n",
};

test("deployRule finds rendered files that are outdated, and images named by tags", async () => {
  const problems = await problemsIn(deployRule, {
    ...sources,
    "deploy/install.yaml": "old\n",
    "deploy/x.yaml": `    image: levee:v1\n  - image: "example.com/a@sha256:${zeros}"\n  image: levee\n`,
    "examples/y.yaml": "image: busybox\n",
  });
  expect(problems).toContain("deploy/install.yaml:0 not as its sources say");
  expect(problems).toContain("deploy/gitops/apps/levee/levee.yaml:0 not as its sources say");
  expect(problems).toContain("deploy/x.yaml:1 the image levee:v1 is not named by its digest");
  expect(problems).toContain("examples/y.yaml:1 the image busybox is not named by its digest");
  expect(problems.filter((problem) => problem.includes("digest"))).toHaveLength(2);
});

test("deployRule finds files in the folders of Argo CD that nobody renders", async () => {
  const problems = await problemsIn(deployRule, {
    ...sources,
    "deploy/gitops/apps/levee/more.yaml": "kind: ConfigMap\n",
    "deploy/gitops/apps/cdi/README.md": "How to fill it\n",
    "deploy/gitops/apps/kubevirt-vms/namespace.yaml": "kind: Namespace\n",
  });
  expect(problems.filter((problem) => problem.includes("no source says"))).toEqual([
    "deploy/gitops/apps/levee/more.yaml:0 no source says what is in it",
  ]);
});
