import { expect, test } from "bun:test";
import type { Hand } from "../../hands/hand.ts";
import { outcome } from "../../hands/outcome.fixture.ts";
import { aChain, aFolder, aRecord, bootId, containerId, json, openIn } from "../../state/journal/record.fixture.ts";
import { leakBackoffMs, type LeakEntry } from "../../state/journal/leak-ledger.ts";
import type { IfName, PluginType } from "../../base/brand.ts";
import { silentLogger } from "../../base/log.ts";
import { silentEventTeller } from "../tell/event-teller.ts";
import { Leaks } from "./leaks.ts";
import { ChainNotes } from "../record/chain-notes.ts";
import { Undo } from "./undo.ts";
import { LeakRetries } from "./retry-leaks.ts";
import { KeptTimeline } from "../record/timeline.fixture.ts";
import { systemClock } from "../../base/clock.ts";
import { Turns } from "../serve/turns.ts";
import type { RunOrder } from "../../wire/messages.ts";
import type { Outcome } from "../../wire/outcome.ts";

function leak(id: string, nextTryWallMs: number, change: Partial<LeakEntry> = {}): LeakEntry {
  return {
    id,
    containerId: containerId(id),
    ifname: "eth0" as IfName,
    pod: undefined,
    chains: [aChain()],
    results: [undefined],
    netns: { path: "", identity: undefined },
    cniPath: "",
    bootId,
    reason: "",
    sinceWallMs: 0,
    attempts: 0,
    nextTryWallMs,
    hasTimedOut: false,
    repeats: 0,
    ...change,
  };
}

/** A node at wall time 1,000 s with these leaks, and a hand whose plugins take `runMs` each. */
function nodeWith(
  leaks: readonly LeakEntry[],
  runMs = 0,
  answer: (order: RunOrder) => Outcome = () => outcome(),
): { retries: LeakRetries; undo: Undo; hand: Hand; resolved: string[] } {
  const resolved: string[] = [];
  let nowMs = 0;
  const clock = { ...systemClock, wallMs: () => 1_000_000, monotonicMs: () => nowMs };
  const notes = new ChainNotes(new KeptTimeline(), { ran: () => undefined });
  const suspects = { add: () => undefined, proveGone: () => Promise.resolve() };
  const config = { delDelegatesMs: 25_000, addUndoMs: 25_000, delAttemptsMax: 3, binDir: "/opt/cni/bin" };
  const undo = new Undo({
    clock,
    bootId,
    config,
    notes,
    suspects,
    journal: { delFailed: () => Promise.resolve(), inNetns: () => [], removed: () => Promise.resolve() },
    leaks: { settle: () => Promise.resolve() },
    leftovers: { leftBy: (_record, failures) => Promise.resolve(failures) },
    afterwork: { drop: () => Promise.resolve() },
    offline: { dropDelete: () => Promise.resolve() },
  });
  const retries = new LeakRetries({
    clock,
    turns: new Turns(),
    suspects,
    undo,
    journal: {
      all: () => [],
      leaks: () => leaks.filter(({ id }) => !resolved.includes(id)),
      leakResolved: (id: string) => Promise.resolve(void resolved.push(id)),
      leakRetried: () => Promise.resolve(),
    },
  });
  const run = (order: RunOrder): Promise<unknown> => {
    nowMs += runMs;
    return Promise.resolve(answer(order));
  };
  // Every namespace is gone.
  const stat = (): Promise<unknown> => Promise.resolve([undefined]);
  const hand = { isLost: false, isResident: true, cniPath: "", run, stat } as unknown as Hand; // only what it uses
  return { retries, undo, hand, resolved };
}

test("retryDue tries the due leaks, and those that a wrong wall clock put off for longer than their pause", async () => {
  const longest = (attempts: number): number => 1_000_000 + leakBackoffMs(attempts, 0);
  const node = nodeWith([
    leak("due", 999_999),
    leak("later", longest(0)),
    leak("skewed", longest(0) + 1),
    leak("much-later", longest(3), { attempts: 3 }),
    leak("much-skewed", longest(3) + 1, { attempts: 3 }),
    leak("lost", 0, { chains: [] }),
  ]);
  await node.retries.retryDue(node.hand);
  expect(node.resolved).toEqual(["due", "skewed", "much-skewed"]);
});

test("retryDue tries everything once after wantAll", async () => {
  const node = nodeWith([leak("later", 2_000_000), leak("lost", 0, { chains: [] })]);
  node.retries.wantAll();
  expect(node.retries.isAnyWanted).toBe(true);
  await node.retries.retryDue(node.hand);
  expect(node.resolved).toEqual(["later"]);
  expect(node.retries.isAnyWanted).toBe(false);
});

test("retryDue ends its round after a while, so that hung plugins hold up no other work", async () => {
  const ids = Array.from({ length: 12 }, (_, index) => `leak${index}`);
  const node = nodeWith(
    ids.map((id) => leak(id, 0)),
    8_000,
  );
  await node.retries.retryDue(node.hand);
  expect(node.resolved.length).toBeLessThan(ids.length);
  while (node.resolved.length < ids.length) await node.retries.retryDue(node.hand);
  expect(node.resolved.toSorted()).toEqual(ids.toSorted());
});

test("retryDue tries several leaks at a time, and those that hung at their last try after all others", async () => {
  const started: string[] = [];
  let release = (): void => undefined;
  const hung = new Promise<void>((resolve) => (release = resolve));
  const node = nodeWith([
    leak("hung0", 0, { hasTimedOut: true }),
    leak("hung1", 0, { hasTimedOut: true }),
    ...Array.from({ length: 8 }, (_, index) => leak(`quick${index}`, 0)),
  ]);
  const run = async ({ env }: RunOrder): Promise<Outcome> => {
    const id = env["CNI_CONTAINERID"] ?? "";
    started.push(id);
    if (id.startsWith("hung")) await hung;
    return outcome();
  };
  const round = node.retries.retryDue({ ...node.hand, run } as unknown as Hand); // as above
  const enough = systemClock.monotonicMs() + 5_000;
  while (started.length < 10 && systemClock.monotonicMs() < enough) await systemClock.sleep(1);
  expect(started.slice(8).toSorted()).toEqual(["hung0", "hung1"]);
  expect(node.resolved.filter((id) => id.startsWith("quick"))).toHaveLength(8);
  release();
  await round;
  expect(node.resolved).toHaveLength(10);
});

test("retryDue works on one leak of a container at a time", async () => {
  let running = 0;
  let most = 0;
  const node = nodeWith(
    Array.from({ length: 6 }, (_, index) => leak(`l${index}`, 0, { containerId: containerId("one") })),
  );
  const run = async (): Promise<Outcome> => {
    most = Math.max(most, ++running);
    await systemClock.sleep(1);
    running -= 1;
    return outcome();
  };
  await node.retries.retryDue({ ...node.hand, run } as unknown as Hand); // as above
  expect(most).toBe(1);
  expect(node.resolved).toHaveLength(6);
});

test("retryDue names a namespace that is gone to a plugin that finds its work by the path, and to no other", async () => {
  const netns = { path: "/run/netns/gone", identity: { device: 4n, inode: 9n } };
  const ovs = aChain({ links: [{ type: "ovs" as PluginType, stdin: json('{"type":"ovs"}') }] });
  const named = new Map<string, string | undefined>();
  const leaks = [leak("ovs", 0, { netns, chains: [ovs] }), leak("bridge", 0, { netns })];
  const node = nodeWith(leaks, 0, ({ plugin, env }) => {
    named.set(plugin, env["CNI_NETNS"]);
    return outcome();
  });
  await node.retries.retryDue(node.hand);
  expect(Object.fromEntries(named)).toEqual({ ovs: netns.path, bridge: "" });
});

test("retryDue undoes a failed ADD without the pod's values once its plugin has refused them often enough", async () => {
  const reason = "default/lan (net1): bad address";
  const chain = aChain({ cniArgs: "IgnoreUnknown=true;IP=10.0.0.5,10.0.0.6" });
  const refused = { chains: [chain], reason, linksAdded: 0 };
  const node = nodeWith(
    [
      leak("often", 0, { ...refused, repeats: 5 }),
      leak("seldom", 0, { ...refused, attempts: 9, repeats: 4 }),
      leak("other-words", 0, { ...refused, repeats: 5, reason: "default/lan (net1): away" }),
      leak("attached", 0, { ...refused, repeats: 5, linksAdded: 1 }),
      leak("of-an-older-daemon", 0, { ...refused, repeats: 5, linksAdded: undefined }),
    ],
    0,
    ({ env }) =>
      env["CNI_ARGS"]?.includes("IP=") === true
        ? outcome({ exitCode: 1, stdout: Buffer.from('{"cniVersion":"1.0.0","code":7,"msg":"bad address"}') })
        : outcome(),
  );
  await node.retries.retryDue(node.hand);
  expect(node.resolved).toEqual(["often"]);
});

test("retryDue keeps the pod's ports for a link whose ADD succeeded, however often its DEL says the same", async () => {
  const config = json(
    '{"cniVersion":"1.0.0","name":"lan","plugins":[{"type":"bridge"},{"type":"portmap","capabilities":{"portMappings":true}}]}',
  );
  const ports = json('[{"hostPort":8080,"containerPort":80,"protocol":"tcp"}]');
  const stdins = ["", `,"runtimeConfig":{"portMappings":${ports}}`].map((more, at) =>
    json(`{"type":"${at === 0 ? "bridge" : "portmap"}","name":"lan","cniVersion":"1.0.0"${more}}`),
  );
  const links = stdins.map((stdin, at) => ({ type: (at === 0 ? "bridge" : "portmap") as PluginType, stdin }));
  const lan = aChain({
    links,
    routes: { dropV4: false, dropV6: false, gateways: [] },
    multus: { config, isList: true, capabilityArgs: { portMappings: ports }, request: {} },
  });
  const result = json('{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.5/24"}]}');
  const steps = new Map([1, 2].map((step) => [step, { step, result }]));
  const now = { path: "", identity: undefined };
  const failure = { code: "delegate-failed", cniCode: 7, message: "the second network failed", details: "" };
  const record = aRecord(1, { chains: [lan, aChain()], phase: "undoing", steps, failure, netns: now });
  const withPorts: boolean[] = [];
  const answer = ({ plugin, stdin }: RunOrder): Outcome => {
    if (!plugin.endsWith("portmap")) return outcome();
    withPorts.push(Buffer.from(stdin).includes("hostPort") && Buffer.from(stdin).includes("prevResult"));
    const msg = '{"cniVersion":"1.0.0","code":7,"msg":"iptables is not usable"}';
    return withPorts.at(-1) === true ? outcome({ exitCode: 1, stdout: Buffer.from(msg) }) : outcome();
  };
  const journal = await openIn(await aFolder());
  const kept = new Leaks({ clock: systemClock, bootId, journal, logger: silentLogger, eventTeller: silentEventTeller });
  const node = nodeWith([], 0, answer);
  await kept.settle(record, now, await node.undo.chains(record, { hand: node.hand, now, verb: "UNDO" }));
  for (let tries = 0; tries < 8; tries += 1) {
    const [entry] = journal.leaks();
    const round = nodeWith([{ ...entry!, nextTryWallMs: 0 }], 0, answer);
    await round.retries.retryDue(round.hand);
    expect(round.resolved).toEqual([]);
    await journal.leakRetried(entry!.id, entry!.reason, false);
  }
  expect(withPorts).toEqual(Array.from({ length: 9 }, () => true));
  await journal.close();
});
