import { describe, expect, test } from "bun:test";
import { SharedTexts } from "../../base/shared-texts.ts";
import { metricsOf } from "../../wire/metric-lines.ts";
import { rangeSizes } from "./address-ranges.ts";
import { projectConsolePod, sameConsolePod } from "./console-pod.ts";
import { daemonFacts } from "./daemon-facts.ts";
import { namedNetworks } from "./named-networks.ts";
import { projectNetworkSeen } from "./network-seen.ts";
import { projectSandboxFailure } from "./sandbox-failure.ts";

const texts = new SharedTexts();
const made = "2026-11-18T00:00:00Z";

function podObject(spec: object, status: object, annotations: object = {}): object {
  return { metadata: { namespace: "shop", name: "web", uid: "u", creationTimestamp: made, annotations }, spec, status };
}

describe("projectConsolePod", () => {
  const ready = { type: "PodReadyToStartContainers", status: "True", lastTransitionTime: "2026-11-18T00:00:09Z" };

  test.each([
    ["unbound", {}, { phase: "Pending" }],
    ["waiting", { nodeName: "n1" }, { phase: "Pending" }],
    ["attached", { nodeName: "n1" }, { phase: "Pending", conditions: [ready] }],
    ["attached", { nodeName: "n1" }, { phase: "Running", podIP: "10.0.0.1" }],
    ["host", { nodeName: "n1", hostNetwork: true }, { phase: "Running", podIP: "10.0.0.1" }],
    ["ended", { nodeName: "n1" }, { phase: "Succeeded", podIP: "10.0.0.1" }],
  ])("calls a pod %s with %o %o", (state, spec, status) => {
    expect(projectConsolePod(podObject(spec, status), texts)?.state).toBe(state as "waiting");
  });

  test("keeps when the network was there, and the networks it names", () => {
    const pod = projectConsolePod(
      podObject({ nodeName: "n1" }, { conditions: [ready] }, { "k8s.v1.cni.cncf.io/networks": "lan, infra/dmz@net2" }),
      texts,
    );
    expect(pod).toMatchObject({
      attachedMs: Date.parse(ready.lastTransitionTime),
      networks: ["shop/lan", "infra/dmz"],
    });
    expect(pod !== undefined && sameConsolePod(pod, { ...pod })).toBe(true);
    expect(pod !== undefined && sameConsolePod(pod, { ...pod, state: "ended" })).toBe(false);
    expect(projectConsolePod({ metadata: {} }, texts)).toBeUndefined();
    expect(projectConsolePod("<img>", texts)).toBeUndefined();
  });
});

test.each([
  ['[{"name":"lan"},{"name":"dmz","namespace":"infra"},{"name":7}]', ["shop/lan", "infra/dmz"]],
  ["lan,lan", ["shop/lan"]],
  ["[broken", []],
  ['{"name":"x"}', []],
  [" , ", []],
])("namedNetworks reads %s", (text, expected) => {
  expect(namedNetworks(text, "shop")).toEqual(expected);
});

describe("daemonFacts", () => {
  const text = [
    'levee_waiting{kind="attach",class="ordinary"} 7',
    'levee_waiting{kind="attach",class="critical"} 1',
    'levee_waiting{kind="detach",class="detach"} 2',
    'levee_running{kind="attach"} 3',
    'levee_slots{kind="attach"} 8',
    "levee_memory_working_set_bytes 1000",
    "levee_leaks 4",
    'levee_node_reboot_required{node="n1"} 1',
    'levee_node_reboot_required_since_timestamp_seconds{node="n1"} 5',
    'levee_delegate_seconds_bucket{plugin="bridge",verb="ADD",le="0.1"} 3',
    'levee_delegate_seconds_bucket{plugin="bridge",verb="ADD",le="+Inf"} 4',
    'levee_delegate_exits_total{plugin="bridge",verb="ADD",exit="ok"} 3',
    'levee_delegate_exits_total{plugin="bridge",verb="ADD",exit="failed"} 1',
  ].join("\n");

  test("reads a daemon's metrics", () => {
    expect(daemonFacts(metricsOf(text), 9_000)).toMatchObject({
      ...{ adds: 8, dels: 2, byClass: [1, 7, 0, 2], running: 3, slots: 8, leaks: 4, memoryBytes: 1_000 },
      rebootMs: 5_000,
      plugins: [
        {
          plugin: "bridge",
          verb: "ADD",
          runs: 4,
          failed: 1,
          buckets: [
            [0.1, 3],
            [Number.POSITIVE_INFINITY, 4],
          ],
        },
      ],
    });
  });

  test("knows other programs, and daemons that say less", () => {
    expect(daemonFacts(metricsOf("go_goroutines 7\n"), 1)).toBeUndefined();
    const old = daemonFacts(metricsOf('levee_waiting{kind="attach",class="ordinary"} 0\n'), 1);
    expect([old?.slots, old?.plugins, old?.rebootMs]).toEqual([undefined, undefined, 0]);
  });
});

test("projectNetworkSeen finds the plugins and the range, and takes nonsense for none", () => {
  const seen = (config: string): unknown =>
    projectNetworkSeen({ metadata: { namespace: "shop", name: "lan" }, spec: { config } }, texts);
  const ipam = { type: "whereabouts", range: "10.0.0.0/24" };
  expect(seen(JSON.stringify({ plugins: [{ type: "bridge", ipam }, { type: "tuning" }] }))).toMatchObject({
    plugins: ["bridge", "tuning"],
    ipam: { type: "whereabouts", sizes: { v4: 254, v6: 0 } },
    confName: "lan",
  });
  expect(seen(JSON.stringify({ type: "macvlan" }))).toMatchObject({
    plugins: ["macvlan"],
    ipam: { type: "", sizes: { v4: 0, v6: 0 } },
  });
  expect(seen("{ not json")).toMatchObject({ plugins: [], config: "{ not json" });
});

test.each([
  [
    { type: "whereabouts", range: "fd00::/120" },
    { v4: 0, v6: 255 },
  ],
  [
    { type: "whereabouts", range: "10.0.0.10-10.0.0.19/24" },
    { v4: 10, v6: 0 },
  ],
  [
    { type: "whereabouts", ipRanges: [{ range: "10.0.0.0/30" }, { range: "fd00::/126" }] },
    { v4: 2, v6: 3 },
  ],
  [
    { type: "whereabouts", range: "10.0.0.0/24", range_start: "10.0.0.250" },
    { v4: 5, v6: 0 },
  ],
  [
    { type: "host-local", subnet: "10.0.0.0/24" },
    { v4: 253, v6: 0 },
  ],
  [
    { type: "host-local", subnet: "10.0.0.0/24", rangeStart: "10.0.0.5", rangeEnd: "10.0.0.8" },
    { v4: 4, v6: 0 },
  ],
  [
    { type: "host-local", ranges: [[{ subnet: "10.0.0.0/29", gateway: "10.0.0.3" }], [{ subnet: "fd00:1::/125" }]] },
    { v4: 5, v6: 6 },
  ],
  [
    { type: "host-local", subnet: "10.0.0.0/31" },
    { v4: 0, v6: 0 },
  ],
  [
    { type: "host-local", subnet: "10.0.0.0/77", ranges: "x" },
    { v4: 0, v6: 0 },
  ],
  [
    { type: "host-local", subnet: "fd00:::1/64" },
    { v4: 0, v6: 0 },
  ],
  [
    { type: "host-local", subnet: 7 },
    { v4: 0, v6: 0 },
  ],
])("rangeSizes counts the addresses of %o", (ipam, sizes) => {
  expect(rangeSizes(ipam)).toEqual(sizes);
});

test("projectSandboxFailure keeps one clean line of kubelet's words", () => {
  const event = {
    metadata: { namespace: "shop", name: "web.17", creationTimestamp: made },
    reason: "FailedCreatePodSandBox",
    involvedObject: { kind: "Pod", name: "web", uid: "u" },
    source: { host: "n1" },
    message: `no\u001b[31m bridge\n${"x".repeat(1_000)}`,
  };
  const failure = projectSandboxFailure(event, texts);
  expect(failure).toMatchObject({ pod: "web", node: "n1", lastMs: Date.parse(made) });
  expect(failure?.why).toStartWith("no bridge x");
  expect(failure?.why.length).toBeLessThan(310);
  expect(projectSandboxFailure({ ...event, involvedObject: { kind: "Node" } }, texts)).toBeUndefined();
});
