import { expect, test } from "bun:test";
import type { ContainerId, IfName, NetworkName } from "../../base/brand.ts";
import { systemClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import { settle, VirtualClock } from "../../base/virtual-clock.fixture.ts";
import { noArgs, parseCniArgs, type CniArgs } from "../../cni/cni-args.ts";
import { asJsonText } from "../../cni/json-text.ts";
import type { Hand } from "../../hands/hand.ts";
import { aChain, aRecord } from "../../state/journal/record.fixture.ts";
import type { Call } from "../serve/call.ts";
import type { OfflineDelete } from "./offline-folder.ts";
import { Residents } from "./residents.ts";
import { Suspects } from "./suspects.ts";
import { Recovery, type RecoveryNeeds } from "./recovery.ts";
import type { Work } from "./queue/recovery-work.ts";

const attachment = { containerId: "c1" as ContainerId, ifname: "eth0" as IfName };

const request: OfflineDelete = {
  ...attachment,
  name: "c1:eth0.del",
  netns: "",
  netnsIdentity: undefined,
  args: noArgs,
  cniPath: "",
  config: asJsonText("{}", "the test"),
};

type Change = Partial<RecoveryNeeds> & { readonly files?: ReadonlySet<string> };

/** A node without journal records, with these files in its folder of offline records. */
function recoveryWith({ files = new Set(), ...change }: Change): Recovery {
  return new Recovery({
    clock: systemClock,
    logger: silentLogger,
    config: { undoRetryMs: 60_000, addLookupMs: 5_000, addDelegatesMs: 25_000, addUndoMs: 8_000 },
    journal: {
      all: () => [],
      delFailed: () => Promise.resolve(),
      find: () => undefined,
      findByToken: () => undefined,
    },
    offline: { has: (name: string) => files.has(name) },
    residents: new Residents(systemClock),
    suspects: new Suspects("boot", { all: () => [] }),
    item: { carryOut: () => Promise.resolve(true) },
    leaks: { isAnyWanted: false, retryDue: () => Promise.resolve(), wantAll: () => undefined },
    ...change,
  });
}

test("Recovery.isDeletePending is true for a delete made while the daemon was away, until it is done", () => {
  const files = new Set([request.name]);
  const recovery = recoveryWith({ files });
  expect(recovery.isDeletePending(attachment)).toBe(false);
  recovery.offlineDelete(request);
  expect(recovery.isDeletePending(attachment)).toBe(true);
  expect(recovery.isDeletePending({ ...attachment, ifname: "eth1" as IfName })).toBe(false);
  expect(recovery.isDeletePending({ ...attachment, containerId: "c2" as ContainerId })).toBe(false);
  files.clear();
  expect(recovery.isDeletePending(attachment)).toBe(false);
});

test("Recovery.start logs how many deletes wait, and nothing when there are none", async () => {
  const said: string[] = [];
  const logger = { ...silentLogger, info: (message: string): number => said.push(message) };
  const idle = recoveryWith({ logger });
  idle.start();
  await idle.stop();
  expect(said).toEqual([]);
  const recovery = recoveryWith({ files: new Set([request.name]), logger });
  recovery.offlineDelete(request);
  recovery.start();
  await recovery.stop();
  expect(said).toEqual([
    "1 delete made while the daemon was away waits to be carried out: it waits for a resident hand",
  ]);
});

function argsOf(pod: string): CniArgs {
  return parseCniArgs(`K8S_POD_NAMESPACE=default;K8S_POD_NAME=${pod}`);
}

function deleteOf(pod: string): OfflineDelete {
  return { ...request, name: `${pod}:eth0.del`, containerId: pod as ContainerId, args: argsOf(pod) };
}

/** Only what recovery asks of a hand. */
function aHand(isResident: boolean): Hand {
  return { isLost: false, isResident, lost: new AbortController().signal } as unknown as Hand;
}

function aCall(leftMs = 110_000): Call & { cancel(reason: Error): void } {
  const gone = new AbortController();
  const call = { hand: aHand(false), signal: gone.signal, remainingMs: () => leftMs };
  return { ...call, cancel: (reason: Error) => gone.abort(reason) } as unknown as Call; // only what recovery asks of it
}

/** Counts how often anything asks for the resident hand, which every look of a waiting ADD did. */
class CountedResidents extends Residents {
  looks = 0;

  override hand(): Hand | undefined {
    this.looks += 1;
    return super.hand();
  }
}

/** A node with a resident hand, whose deletes end when the test says so. */
function slowNode(change: Partial<RecoveryNeeds> = {}) {
  const clock = new VirtualClock();
  const residents = new CountedResidents(clock);
  const gate = Promise.withResolvers<void>();
  const carryOut = (_hand: Hand, item: Work): Promise<boolean> => gate.promise.then(() => item.kind === "offline");
  const recovery = recoveryWith({ clock, residents, item: { carryOut }, ...change });
  recovery.addResident(aHand(true));
  return { clock, residents, recovery, release: () => gate.resolve() };
}

test("Recovery.settleBefore: 219 ADDs that wait for 1,024 slow deletes look a few times each, however long it takes", async () => {
  const { clock, residents, recovery, release } = slowNode();
  const pods = Array.from({ length: 1_024 }, (_, index) => `pod${index}`);
  for (const pod of pods) recovery.offlineDelete(deleteOf(pod));
  const adds = pods.slice(0, 219).map((pod) => recovery.settleBefore(aCall(), argsOf(pod)));
  await settle();
  const before = residents.looks;
  await clock.advance(4_900);
  expect(residents.looks - before).toBeLessThan(219);
  expect(clock.timers).toBeLessThan(219 + 8 + 1);
  release();
  await Promise.all(adds);
  await recovery.stop();
});

test("Recovery.settleBefore refuses after a while an ADD whose pod's delete is still due, and lets others through", async () => {
  const { clock, recovery, release } = slowNode();
  recovery.offlineDelete(deleteOf("mine"));
  const mine = recovery.settleBefore(aCall(), argsOf("mine")).catch((thrown: unknown) => thrown);
  await recovery.settleBefore(aCall(), argsOf("other"));
  await clock.advance(5_000);
  expect(await mine).toMatchObject({ code: "try-later", message: expect.stringContaining("default/mine") });
  expect(clock.timers).toBe(1);
  release();
  await recovery.stop();
});

test("Recovery.settleBefore waits only as long as the ADD's budget leaves, and not for a caller that has gone", async () => {
  const { clock, recovery, release } = slowNode();
  recovery.offlineDelete(deleteOf("mine"));
  // 5 s for the look-up, 25 s for the plugins, 8 s for their undo, 2 s for closing.
  const late = recovery.settleBefore(aCall(41_000), argsOf("mine")).catch((thrown: unknown) => thrown);
  const gone = aCall();
  const given = recovery.settleBefore(gone, argsOf("mine")).catch((thrown: unknown) => thrown);
  await settle();
  gone.cancel(new Error("a DEL came"));
  expect(await given).toMatchObject({ message: "a DEL came" });
  await clock.advance(1_000);
  expect(await late).toMatchObject({ code: "try-later" });
  release();
  await recovery.stop();
});

test("Recovery.settleNetworks waits for untried deletes of the same networks only, and for those of unknown ones", async () => {
  const chains = [{ ...aChain(), isDefault: false, network: "default/lan" as NetworkName }];
  const known = { ...aRecord(1), chains };
  const journal = {
    all: () => [],
    delFailed: () => Promise.resolve(),
    findByToken: () => undefined,
    find: ({ containerId }: { containerId: string }) => (containerId === "known" ? known : undefined),
  };
  const { clock, recovery, release } = slowNode({ journal });
  recovery.offlineDelete(deleteOf("known"));
  let ended: string[] = [];
  const wait = (network: string): Promise<number> =>
    recovery.settleNetworks(aCall(), [network], clock.monotonicMs() + 5_000).then(() => ended.push(network));
  const [lan, other] = [wait("default/lan"), wait("default/other")];
  await other;
  expect(ended).toEqual(["default/other"]);
  recovery.offlineDelete(deleteOf("stranger"));
  ended = [];
  const any = wait("default/third");
  await clock.advance(4_999);
  expect(ended).toEqual([]);
  release();
  await Promise.all([lan, any]);
  await recovery.stop();
});

test("Recovery.settleNetworks ends at the end of the look-up, and once the deletes were tried", async () => {
  const { clock, recovery, release } = slowNode({
    item: { carryOut: () => new Promise(() => undefined) },
  });
  recovery.offlineDelete(deleteOf("slow"));
  const late = recovery.settleNetworks(aCall(), ["default/lan"], 3_000);
  await clock.advance(3_000);
  await late;
  // A hung delete delays the ADDs of the first five seconds, and no later ones.
  const second = recovery.settleNetworks(aCall(), ["default/lan"], 8_000);
  await clock.advance(2_000);
  await second;
  await recovery.settleNetworks(aCall(), ["default/lan"], 10_000);
  release();
  const failing = slowNode({ item: { carryOut: () => Promise.resolve(false) } });
  failing.recovery.offlineDelete(deleteOf("failing"));
  await failing.recovery.settleNetworks(aCall(), ["default/lan"], Number.MAX_SAFE_INTEGER);
  await failing.recovery.stop();
});

test("Recovery: a hung item does not keep the hand's other lanes from work that comes later", async () => {
  const done: string[] = [];
  const carryOut = (_hand: Hand, item: Work): Promise<boolean> => {
    const name = item.kind === "offline" ? item.request.name : "";
    if (name.startsWith("hung")) return new Promise(() => undefined);
    done.push(name);
    return Promise.resolve(true);
  };
  const { recovery } = slowNode({ item: { carryOut } });
  recovery.offlineDelete(deleteOf("hung"));
  await settle();
  recovery.offlineDelete(deleteOf("later"));
  await settle();
  expect(done).toEqual(["later:eth0.del"]);
});

test("Recovery.settleBefore: without a resident hand the call's own shim does the work, and does it again when it is due", async () => {
  const clock = new VirtualClock();
  let tries = 0;
  const carryOut = (): Promise<boolean> => Promise.resolve((tries += 1) === 3);
  const recovery = recoveryWith({ clock, residents: new Residents(clock), item: { carryOut } });
  recovery.offlineDelete(deleteOf("mine"));
  const mine = recovery.settleBefore(aCall(), argsOf("mine"));
  await clock.advance(500);
  await mine;
  expect(tries).toBe(3);
});
