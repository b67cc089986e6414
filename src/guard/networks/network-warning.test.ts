import { expect, test } from "bun:test";
import { definition } from "./definition.fixture.ts";
import { networkMetrics } from "./network-metrics.ts";
import { changeWarning, overlapWarnings, type NetworkWarning } from "./network-warning.ts";
import { projectWatchedNetwork, type WatchedNetwork } from "./watched-network.ts";
import { readyPod } from "../world.fixture.ts";

function macvlan(name: string, range: string, more: { master?: string; created?: string } = {}): WatchedNetwork {
  const ipam = { type: "whereabouts", network_name: name, range };
  const config = { type: "macvlan", master: more.master ?? "eth1", ipam };
  const metadata = more.created === undefined ? {} : { creationTimestamp: more.created };
  return projectWatchedNetwork(definition(name, config, metadata))!;
}

test("overlapWarnings names the younger of two definitions with the same addresses on one segment", () => {
  const young = macvlan("a", "10.1.0.128/25", { created: "2026-05-02T10:00:00Z" });
  const old = macvlan("b", "10.1.0.0/24");
  expect(overlapWarnings([young, old]).map(({ network, message }) => `${network.name} ${message}`)).toEqual([
    "a LVN0503: 10.1.0.129 to 10.1.0.254 on the node's interface eth1 is also given by NetworkAttachmentDefinition prod/b",
  ]);
});

test.each([
  ["ranges that touch", macvlan("a", "10.1.0.0/25"), macvlan("b", "10.1.0.128/25")],
  ["the same ranges on two interfaces", macvlan("a", "10.1.0.0/24"), macvlan("b", "10.1.0.0/24", { master: "eth2" })],
  ["the same ranges in two VLANs", macvlan("a", "10.1.0.0/24"), macvlan("b", "10.1.0.0/24", { master: "eth1.57" })],
  ["a configuration that is no JSON", macvlan("a", "10.1.0.0/24"), projectWatchedNetwork(definition("b", "type: x"))!],
])("overlapWarnings does not warn of %s", (_what, left, right) => {
  expect(overlapWarnings([left, right])).toEqual([]);
});

test("projectWatchedNetwork keeps little of a definition that is as large as it gets", () => {
  const ipRanges = Array.from({ length: 5_000 }, (_, at) => ({ range: `10.${at >> 8}.${at & 255}.0/24` }));
  const large = projectWatchedNetwork(
    definition("a", { type: "macvlan", master: "m".repeat(300), ipam: { type: "whereabouts", ipRanges } }),
  );
  expect(large?.pools).toHaveLength(64);
  expect(projectWatchedNetwork(definition("a", `{"type":"bridge","_":"${"x".repeat(300_000)}"}`))?.pools).toEqual([]);
  expect(projectWatchedNetwork({ metadata: { name: "a" } })).toBeUndefined();
});

function changed(pods: number, kind: "changed" | "deleted" = "changed"): NetworkWarning {
  const network = macvlan("lan", "10.1.0.0/24");
  const users = Array.from({ length: pods }, (_, at) => readyPod(`p${at}`));
  return changeWarning({ kind, network, pods: users, sinceMs: 1_700_000_000_500 });
}

test.each([
  [
    changed(1),
    "LVN0703: the configuration has changed: fc-desktop/p0 uses it and keeps the old configuration until restarted",
  ],
  [
    changed(50_000),
    "LVN0703: the configuration has changed: fc-desktop/p0, fc-desktop/p1, fc-desktop/p2 and 49997 more pods use it and keep the old configuration until restarted",
  ],
  [
    changed(4, "deleted"),
    "LVN0703: the definition was deleted: fc-desktop/p0, fc-desktop/p1, fc-desktop/p2 and 1 more pod use it and cannot start again without it",
  ],
])("changeWarning names three pods at most", ({ message }, text) => {
  expect(message).toBe(text);
});

test("networkMetrics has a bounded number of lines, and none while the definitions cannot be read", () => {
  expect(networkMetrics(undefined)).toBe("");
  const [overlap] = overlapWarnings([macvlan("a", "10.1.0.0/24"), macvlan("b", "10.1.0.0/24")]);
  const text = networkMetrics([changed(7), overlap!]);
  expect(text.split("\n").filter((line) => line !== "" && !line.startsWith("#"))).toEqual([
    'levee_guard_network_warnings{kind="changed"} 1',
    'levee_guard_network_warnings{kind="deleted"} 0',
    'levee_guard_network_warnings{kind="overlap"} 1',
    'levee_guard_network_hurt_pods{network="prod/lan",kind="changed"} 7',
    'levee_guard_network_changed_timestamp_seconds{network="prod/lan",kind="changed"} 1700000000',
    'levee_guard_network_overlap{network="prod/b"} 1',
  ]);
  const many = networkMetrics(Array.from({ length: 500 }, () => changed(1)));
  expect(many.match(/^levee_guard_network_hurt_pods\{/gmu)).toHaveLength(100);
});
