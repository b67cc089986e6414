import { expect, test } from "bun:test";
import { SharedTexts } from "../../base/shared-texts.ts";
import { namedPriority } from "../../view/pod-facts.ts";
import { projectPod, type NamesPod } from "./project.ts";

const isNamed: NamesPod = (namespace, { app }) => namespace === "traefik" || (namespace === "db" && app === "pg");

function priority(namespace: string, labels: object, spec: object = {}): number | undefined {
  return projectPod({ metadata: { name: "p", namespace, labels }, spec }, new SharedTexts(), isNamed)?.priority;
}

test("projectPod gives pods that the settings name the priority of critical ones", () => {
  expect(priority("traefik", {})).toBe(namedPriority);
  expect(priority("db", { app: "pg" }, { priority: 0 })).toBe(namedPriority);
});

test("projectPod lets no labels count in a namespace that is not named, nor other labels in one that is", () => {
  expect(priority("tenant", { app: "pg", name: "traefik" }, { priority: 7 })).toBe(7);
  expect(priority("db", { app: "cache" })).toBeUndefined();
  expect(priority("db", { app: { pg: true } })).toBeUndefined();
});
