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

function line(named: SiteNeeds["named"]): ClusterLine {
  return criticalLine({ siteNeeds: { value: { dependencies, named } } });
}

test("criticalLine proposes the setting, and says why", () => {
  expect(line(new Set(["kube-system"]))).toMatchObject({
    state: "warning",
    detail: '2 namespaces may wait behind all others: "criticalPods": ["longhorn-system","traefik"]',
    evidence: {
      "longhorn-system": "CSI driver of DaemonSet longhorn-csi-plugin",
      "traefik": "ingress class traefik, Service traefik of type LoadBalancer",
    },
  });
});

test("criticalLine is content when all are named, and without Levee's daemon", () => {
  expect(line(new Set(["kube-system", "traefik", "longhorn-system"]))).toMatchObject({ state: "ok" });
  expect(line(undefined)).toMatchObject({ state: "ok", detail: "Levee's daemon is not installed" });
  expect(criticalLine({ siteNeeds: { why: "no", status: 403 } }).detail).toStartWith("not known: ");
});
