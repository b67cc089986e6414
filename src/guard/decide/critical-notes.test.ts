import { expect, test } from "bun:test";
import type { Symptom } from "../detect/symptoms.ts";
import { stuckPod, world } from "../world.fixture.ts";
import { criticalNotes } from "./critical-notes.ts";

function stuck(namespace: string, name: string): Symptom {
  return { kind: "WorkloadStuck", workload: { kind: "Deployment", namespace, name, pods: [stuckPod("p")] } };
}

const dependencies = [
  { namespace: "traefik", why: "ingress class traefik" },
  { namespace: "traefik", why: "Service traefik of type LoadBalancer" },
  { namespace: "longhorn-system", why: "webhook longhorn" },
  { namespace: "kube-system", why: "webhook x" },
];

test("criticalNotes proposes namespaces that others depend on and that do not start", () => {
  const linked = [stuck("traefik", "traefik"), stuck("shop", "web"), stuck("kube-system", "dns")];
  expect(criticalNotes(linked, { ...world(), dependencies })).toEqual([
    'Others depend on traefik (ingress class traefik, Service traefik of type LoadBalancer), whose pods wait behind this cause. To let them go first next time, set "criticalPods": ["traefik"] in the daemons\' settings',
  ]);
});

test("criticalNotes says nothing while they run, or where nobody depends on what is stuck", () => {
  expect(criticalNotes([], { ...world(), dependencies })).toEqual([]);
  expect(criticalNotes([stuck("shop", "web")], { ...world(), dependencies })).toEqual([]);
  expect(criticalNotes([stuck("traefik", "traefik")], world())).toEqual([]);
});
