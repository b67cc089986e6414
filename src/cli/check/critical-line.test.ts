import { expect, test } from "bun:test";
import type { SiteNeeds } from "../cluster/site-needs.ts";
import type { ClusterLine } from "./cluster-line.ts";
import { criticalLine } from "./critical-line.ts";

const dependencies = [
  { namespace: "traefik", why: "ingress class traefik" },
  { namespace: "traefik", why: "Service traefik of type LoadBalancer" },
  { namespace: "longhorn-system", why: "CSI driver of DaemonSet longhorn-csi-plugin" },
  { namespace: "kube-system", why: "webhook x" },
];

function line(told: SiteNeeds["told"], facts: Partial<Parameters<typeof criticalLine>[0]> = {}): ClusterLine {
  return criticalLine({
    siteNeeds: { value: { dependencies, told } },
    namespaces: { value: [] },
    guard: { value: undefined },
    namespace: "levee-system",
    ...facts,
  });
}

test("criticalLine names the namespaces of criticalPods that the guard's policies do not hold", () => {
  const guard = { value: { namespace: "levee-system", name: "levee-guard", desired: 2, available: 2 } };
  const told = { namespaces: new Set(["kube-system", "traefik", "longhorn-system"]), isChosen: true };
  const labelled = { name: "traefik", labels: { "levee.dev/critical": "" } };
  const bare = ["kube-system", "levee-system", "longhorn-system"].map((name) => ({ name, labels: {} }));
  const namespaces = { value: [labelled, ...bare] };
  expect(line(told, { guard, namespaces })).toMatchObject({
    state: "warning",
    detail:
      "the guard may make workloads smaller in 1 namespace of criticalPods: kubectl label namespace longhorn-system levee.dev/critical=true",
  });
  expect(line(told, { namespaces })).toMatchObject({ state: "ok" });
  const all = { value: namespaces.value.map(({ name }) => ({ ...labelled, name })) };
  expect(line(told, { guard, namespaces: all })).toMatchObject({ state: "ok" });
});

test("criticalLine proposes the setting, and says why", () => {
  expect(line({ namespaces: new Set(["kube-system"]), isChosen: false })).toMatchObject({
    state: "warning",
    detail: '2 namespaces may wait behind all others: "criticalPods": ["longhorn-system","traefik"]',
    evidence: {
      "longhorn-system": "CSI driver of DaemonSet longhorn-csi-plugin",
      "traefik": "ingress class traefik, Service traefik of type LoadBalancer",
    },
  });
});

test("criticalLine is content when all are named, and without Levee's daemon", () => {
  const namespaces = new Set(["kube-system", "traefik", "longhorn-system"]);
  expect(line({ namespaces, isChosen: true })).toMatchObject({ state: "ok", detail: "3 namespaces" });
  expect(line(undefined)).toMatchObject({ state: "ok", detail: "Levee's daemon is not installed" });
  expect(line(undefined, { siteNeeds: { why: "no", status: 403 } }).detail).toStartWith("not known: ");
});

test("criticalLine only shows what a site that has chosen leaves out", () => {
  expect(line({ namespaces: new Set(["kube-system", "traefik"]), isChosen: true })).toMatchObject({
    state: "ok",
    detail: "1 namespace may wait behind all others: criticalPods leaves them out",
    evidence: { "longhorn-system": "CSI driver of DaemonSet longhorn-csi-plugin" },
  });
});
