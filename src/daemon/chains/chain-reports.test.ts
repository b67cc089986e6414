import { expect, test } from "bun:test";
import { Admission } from "../../admission/admission.ts";
import { VirtualClock } from "../../base/virtual-clock.fixture.ts";
import { LeveeError } from "../../base/errors.ts";
import type { Chain } from "../../cni/chain.ts";
import type { Ran } from "../../hands/run-chain.ts";
import type { Outcome } from "../../wire/outcome.ts";
import { nodeNetworks } from "../../admission/request.ts";
import { ChainReports } from "./chain-reports.ts";

const never = new AbortController().signal;

function ran(outcome: Partial<Outcome>): Ran {
  const facts = { signal: undefined, timedOut: false, wallUs: 50_000, maxRssKib: 1_024, oomCgroup: 0, oomNode: 0 };
  return { outcome: { ...facts, ...outcome } } as Ran; // only what is reported
}

function chain(network: string, isDefault = false): Chain {
  return { network, isDefault } as Chain; // only what is reported
}

async function reported(kind: "attach" | "detach" = "attach", pod = "uid-1") {
  const clock = new VirtualClock();
  const told: string[] = [];
  const admission = new Admission({
    clock,
    onRuling: ({ what, detail }) => void told.push(`${what} ${detail}`.trim()),
  });
  const networks = [nodeNetworks, "default/lan"];
  const request = { kind, namespace: "a", pod, priority: 0, networks, wants: () => "" };
  const permit = await admission.admit(request, never);
  return { clock, admission, told, permit, reports: new ChainReports(permit) };
}

/** Lets enough pods fail alike for the network to count as failing. */
async function failing(error: LeveeError, begun: Chain | undefined): Promise<Admission> {
  const { admission } = await reported();
  for (let pod = 0; pod < 3; pod += 1) {
    const networks = [nodeNetworks, "default/lan"];
    using permit = await admission.admit(
      { kind: "attach", namespace: "a", pod: `uid-${pod}`, priority: 0, networks, wants: () => "" },
      never,
    );
    const reports = new ChainReports(permit);
    if (begun !== undefined) reports.begin(begun);
    await reports.failed(error);
  }
  return admission;
}

test.each([
  ["the pod's own network", chain("default/lan"), "default/lan"],
  ["the primary", chain("default/lan", true), nodeNetworks],
  ["a network of the node's own configuration", chain("kube-system/storage"), nodeNetworks],
])("ChainReports charges a plugin's failure to its network: %s", async (_what, begun, network) => {
  const admission = await failing(new LeveeError("delegate-failed", "no"), begun);
  expect(admission.facts().openNetworks).toMatchObject([{ network, reason: "no" }]);
});

test("ChainReports charges an error in the request to the pod alone", async () => {
  const admission = await failing(new LeveeError("decode-failed", "bad config"), undefined);
  expect(admission.facts()).toMatchObject({ openNetworks: [], heldPods: 3 });
  expect(admission.failuresOf("uid-1")).toMatchObject({ failures: 1, failure: { cause: "own", reason: "bad config" } });
});

test("ChainReports charges neither pod nor network for a cancelled call", async () => {
  const admission = await failing(new LeveeError("cancelled", "a DEL came"), chain("default/lan"));
  expect(admission.facts()).toMatchObject({ openNetworks: [], heldPods: 0 });
});

test("ChainReports charges a network whose plugin took too long, and none whose plugins had no time left to run", async () => {
  const timeout = new LeveeError("delegate-timeout", "too late");
  const admission = await failing(timeout, chain("default/lan"));
  expect(admission.facts()).toMatchObject({ openNetworks: [], heldPods: 0 });
  const { permit, reports } = await reported();
  reports.begin(chain("default/lan"));
  reports.ran(ran({ timedOut: true }));
  reports.end(false);
  await reports.failed(timeout);
  expect(permit.failedNetwork).toBe("default/lan");
});

test("ChainReports follows the networks that the annotations of the call name", async () => {
  const { admission, permit } = await reported();
  const reports = new ChainReports(permit);
  reports.asksFor(["default/other"]);
  reports.begin(chain("default/other"));
  await reports.failed(new LeveeError("delegate-failed", "no"));
  expect(permit.failedNetwork).toBe("default/other");
  expect(admission.isFailing(nodeNetworks)).toBe(false);
});

/** A chain whose pod asked for a MAC address. */
function chainWithMac(network: string): Chain {
  const link = { type: "bridge", stdin: "{}" };
  const multus = { config: "{}", isList: false, capabilityArgs: {}, request: { mac: "02:00:00:00:00:01" } };
  return { ...chain(network), links: [link], multus } as unknown as Chain; // only what is looked at
}

test.each([
  ["delegate-failed", { exitCode: 1 }, "values"],
  ["decode-failed", { exitCode: 0 }, "values"],
  ["delegate-failed", { signal: 11 }, "network"],
  ["delegate-oom", { exitCode: 1 }, "network"],
  ["delegate-timeout", { timedOut: true }, "network"],
  ["delegate-missing", { failure: "missing" }, "network"],
] as const)(
  "ChainReports charges %s after %j to the pod only if a plugin answered its own values: %s",
  async (code, outcome, cause) => {
    const { admission, reports } = await reported();
    const begun = chainWithMac("default/lan");
    reports.begin(begun);
    reports.ran({ ...ran(outcome), chain: begun, link: begun.links[0] } as Ran);
    reports.end(false);
    await reports.failed(new LeveeError(code, "default/lan (net1): no"));
    expect(admission.failuresOf("uid-1")).toMatchObject({ failure: { cause, network: "default/lan" } });
  },
);

test.each([
  ["charges a plugin's failure to the pod", false],
  ["charges nobody when the namespace that the plugin should have worked in is gone", true],
])("ChainReports %s", async (_what, isNetnsGone) => {
  const { admission, reports } = await reported();
  const begun = chainWithMac("default/lan");
  reports.begin(begun);
  reports.ran({ ...ran({ exitCode: 1, isNetnsGone }), chain: begun, link: begun.links[0] } as Ran);
  reports.end(false);
  await reports.failed(new LeveeError("delegate-failed", "no"));
  expect(admission.failuresOf("uid-1") === undefined).toBe(isNetnsGone);
});

test("ChainReports charges a route that cannot be set to the pod that asked for it", async () => {
  const { admission, reports } = await reported();
  reports.begin({ ...chain("default/lan"), routes: { dropV4: true, dropV6: false, gateways: ["10.0.0.1"] } });
  await reports.failed(new LeveeError("routes-failed", "no"));
  expect(admission.failuresOf("uid-1")).toMatchObject({ failure: { cause: "values" } });
});

test("ChainReports keeps a default network that the pod chose apart from the node's", async () => {
  const { admission, permit, reports } = await reported();
  reports.asksFor([], true);
  reports.begin(chain("default/lan", true));
  expect(permit.running).toMatchObject({ network: "default/lan" });
  reports.ran(ran({ timedOut: true }));
  reports.end(false);
  await reports.failed(new LeveeError("delegate-timeout", "too late"));
  expect(permit.failedNetwork).toBeUndefined();
  expect(admission.failuresOf("uid-1")).toMatchObject({ failures: 1, failure: { cause: "values" } });
});

test("ChainReports tells which network's plugin was killed for lack of memory, and the limit goes down", async () => {
  const { admission, told, reports } = await reported();
  reports.begin(chain("default/lan"));
  reports.ran(ran({ signal: 9, oomCgroup: 1 }));
  reports.end(false);
  expect(told).toContain("oom-killed default/lan");
  expect(admission.facts()).toMatchObject({ limit: 1, isSlowStart: false });
});

test("ChainReports treats a kill without an OOM count as an ordinary one", async () => {
  const { told, reports } = await reported();
  reports.begin(chain("default/lan"));
  reports.ran(ran({ signal: 9 }));
  reports.end(false);
  expect(told.filter((line) => line.startsWith("oom"))).toEqual([]);
});

test.each([
  ["a timeout", { signal: 9, timedOut: true }],
  ["an order that was ended", { signal: 9, failure: "killed" as const }],
])(
  "ChainReports keeps the limit when the daemon killed the plugin and the kernel killed another process: %s",
  async (_what, facts) => {
    const { admission, told, reports } = await reported();
    const { limit } = admission.facts();
    reports.begin(chain("default/lan"));
    reports.ran(ran({ ...facts, oomNode: 1 }));
    reports.end(false);
    expect(told.filter((line) => line.startsWith("oom"))).toEqual([]);
    expect(admission.facts().limit).toBe(limit);
  },
);

test("ChainReports of an undo does not change whether a network counts as failing", async () => {
  const admission = await failing(new LeveeError("delegate-failed", "no"), chain("default/lan"));
  const request = {
    kind: "attach",
    namespace: "kube-system",
    pod: "u",
    priority: 0,
    networks: ["default/lan"],
  } as const;
  using permit = await admission.admit(request, never);
  const undo = new ChainReports(permit).forUndo();
  undo.begin(chain("default/lan"));
  undo.ran(ran({}));
  undo.end(true);
  expect(admission.isFailing("default/lan")).toBe(true);
  const reports = new ChainReports(permit);
  reports.begin(chain("default/lan"));
  reports.ran(ran({}));
  reports.end(true);
  expect(admission.isFailing("default/lan")).toBe(false);
});

test.each(["attach", "detach"] as const)("ChainReports no longer counts an %s whose plugin hangs", async (kind) => {
  const { clock, admission, reports, permit } = await reported(kind);
  reports.begin(chain("default/lan"));
  await clock.advance(8_000);
  reports.progress(1_500, "bridge");
  expect(admission.facts()).toMatchObject({ hung: 1, attaching: 0, detaching: 0 });
  reports.ran(ran({ timedOut: true }));
  reports.end(false);
  expect(admission.facts().hung).toBe(0);
  permit[Symbol.dispose]();
});
