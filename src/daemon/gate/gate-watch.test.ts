import { beforeEach, expect, test } from "bun:test";
import type { Namespace, PodName, PodUid } from "../../base/brand.ts";
import { VirtualClock } from "../../base/virtual-clock.fixture.ts";
import { KubeError } from "../../kube/client/api.ts";
import type { GateTicket } from "../../state/gate-ticket.ts";
import type { PodFacts } from "../../view/pod-facts.ts";
import type { RebootGate } from "../../wire/reboot-gate.ts";
import { MetricsRegistry } from "../metrics/metrics-registry.ts";
import { GateWatch } from "./gate-watch.ts";
import { allowAt } from "./gate.fixture.ts";

let clock: VirtualClock;
let gate: () => RebootGate | undefined;
let open: PodFacts[];
let reads: number;
let refusal: Error | undefined;
let tickets: GateTicket[];
let metrics: MetricsRegistry;
const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

beforeEach(() => {
  clock = new VirtualClock();
  gate = () => undefined;
  open = [];
  reads = 0;
  refusal = undefined;
  tickets = [];
  metrics = new MetricsRegistry();
});

function pod(name: string): PodFacts {
  return {
    namespace: "levee-system" as Namespace,
    name: name as PodName,
    uid: "u" as PodUid,
    annotations: {},
    priority: undefined,
    isStatic: false,
    isGateClosed: false,
  };
}

function watch(options: { readonly hasTicket: boolean }): GateWatch {
  return new GateWatch({
    clock,
    logger,
    metrics,
    nodeName: "n1",
    lookMs: 20_000,
    ticket: options.hasTicket ? { write: (ticket) => Promise.resolve(void tickets.push(ticket)) } : undefined,
    source: {
      read: async () => {
        reads += 1;
        await Promise.resolve();
        return gate();
      },
      openPods: () => open,
      close: (closed) => {
        if (refusal !== undefined) return Promise.reject(refusal);
        open = open.filter((one) => one !== closed);
        return Promise.resolve();
      },
    },
  });
}

function shown(): string {
  return metrics.render().replaceAll(/^#.*\n/gmu, "");
}

test("GateWatch asks nothing while it has no ticket to write and every label says deny", async () => {
  const service = watch({ hasTicket: false });
  await clock.advance(600_000);
  expect(reads).toBe(0);
  expect(shown()).toBe("");
  service.stop();
  expect(clock.timers).toBe(0);
});

test("GateWatch leaves open labels while the gate allows, and closes them when the verdict ends", async () => {
  const service = watch({ hasTicket: false });
  const made = allowAt(clock.wallMs());
  gate = () => made;
  open = [pod("levee-1"), pod("levee-hand-1")];
  await clock.advance(119_999);
  expect(open).toHaveLength(2);
  expect(shown()).toBe('levee_node_reboot_allowed{node="n1"} 1\n');
  // The guard is dead: nobody makes a newer one. The look is at the end of the verdict, not twenty seconds later.
  await clock.advance(1);
  expect(open).toEqual([]);
  expect(reads).toBe(7);
  service.stop();
});

test.each<[string, () => RebootGate | undefined]>([
  ["is gone", () => undefined],
  ["is Deny", () => allowAt(clock.wallMs(), { verdict: "Deny" })],
  ["is Unknown", () => allowAt(clock.wallMs(), { verdict: "Unknown" })],
  ["is of another node", () => allowAt(clock.wallMs(), { node: "n2" })],
  [
    "may not be read",
    () => {
      throw new KubeError("api-refused", "forbidden", { status: 403 });
    },
  ],
])("GateWatch closes the labels when the gate %s", async (_what, read) => {
  const service = watch({ hasTicket: false });
  open = [pod("levee-1")];
  gate = read;
  await clock.advance(1);
  expect(open).toEqual([]);
  service.stop();
});

test("GateWatch tries again when a label cannot be closed, and lets a pod go that is gone", async () => {
  const service = watch({ hasTicket: false });
  open = [pod("levee-1")];
  refusal = new KubeError("api-unreachable", "no route");
  await clock.advance(20_000);
  expect(open).toHaveLength(1);
  refusal = undefined;
  await clock.advance(20_000);
  expect(open).toEqual([]);
  service.stop();
});

test("GateWatch keeps the ticket true: with the time that is left, and Deny when it is over", async () => {
  const service = watch({ hasTicket: true });
  const made = allowAt(clock.wallMs());
  gate = () => made;
  await clock.advance(0);
  await clock.advance(20_000);
  expect(tickets.map(({ isAllowed, standsMs }) => [isAllowed, standsMs])).toEqual([
    [true, 120_000],
    [true, 100_000],
  ]);
  gate = () => {
    throw new KubeError("api-unreachable", "no route");
  };
  await clock.advance(20_000);
  expect(tickets.at(-1)).toMatchObject({ isAllowed: true, standsMs: 80_000 });
  await clock.advance(80_000);
  expect(tickets.at(-1)).toEqual({ isAllowed: false, reason: "GateUnreadable: no route", standsMs: 60_000 });
  service.stop();
});
