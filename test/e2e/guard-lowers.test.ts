/** The way back from a raise, on a real API server with the policies as shipped: a week on the guard's own clock. */
import { expect, test } from "bun:test";
import type { Decision } from "../../src/guard/decision/decision.ts";
import type { ActingGuard } from "./guard/guard-acting.ts";
import { daemonNodes, multusPath, type BrokenCni } from "./guard/guard-repairing.ts";
import { guardUser } from "./guard/guard-server.ts";
import { raise as raiseLimit, repairTests } from "./guard/repair-bench.ts";
import type { Answer, PolicyServer } from "./policy-server.ts";
import { until } from "./until.ts";

const mebibyte = 2 ** 20;
const minuteMs = 60_000;
const dayMs = 86_400_000;
/** Below the gap that begins the week anew. */
const lookMs = 25 * minuteMs;

let server: PolicyServer;
let guard: ActingGuard;
let cni: BrokenCni;
/** What every daemon tells of itself. */
let limitBytes = 0;
let usedBytes = 0;

const { group, beforeAll } = repairTests("guard-lowers", (bench) => {
  ({ server, guard, cni } = bench);
  guard.nodeViews = () =>
    daemonNodes.map((node) => ({
      ...{ node, atMs: Date.now() + guard.aheadMs, waiting: 0, running: 0, leaks: 0, oomKills: 0 },
      ...{ memoryBytes: usedBytes, memoryLimitBytes: limitBytes },
    }));
});

/** The new pods tell their new limit. */
async function raise(namespace: string): Promise<void> {
  await raiseLimit({ server, guard, cni }, namespace, () => {
    limitBytes = Number.parseInt(cni.limit(), 10) * mebibyte;
  });
}

/** Looks as the leader does, from so many days ago until then. */
async function calm(fromDays: number, toDays = 0): Promise<void> {
  for (guard.aheadMs = -fromDays * dayMs; guard.aheadMs < -toDays * dayMs; guard.aheadMs += lookMs)
    await guard.calm.look(guard.facts, guard.term);
  guard.aheadMs = -toDays * dayMs;
  await guard.calm.look(guard.facts, guard.term);
}

async function lowerDecision(): Promise<Decision> {
  usedBytes = 40 * mebibyte;
  await calm(7.1);
  expect((await guard.round()).created).toEqual(["lower-kube-system-1"]);
  return guard.find("lower-kube-system-1");
}

async function approved(): Promise<Decision> {
  const { metadata } = await lowerDecision();
  await until("the watch has it", () =>
    guard.facts.decisions().some((one) => one.metadata.name === metadata.name) ? true : undefined,
  );
  await guard.untilPhase(metadata.name, "Proposed");
  await guard.say(metadata.name, "Approve");
  return guard.untilPhase(metadata.name, "Approved");
}

function message({ metadata }: Decision): string {
  return guard.find(metadata.name).status?.message ?? "";
}

group("the guard goes back on a raise", () => {
  test("after a week without pressure, over a change of leader, with the number that it chose", async () => {
    await raise("back-1");
    const raised = cni.mark().split(" ");
    expect(raised).toEqual([cni.uid(), "50Mi", "-", "256Mi", "-", expect.any(String) as string, "-"]);
    usedBytes = 40 * mebibyte;
    await calm(7.1, 4);
    // Another guard leads from here on; it has only what is written down.
    guard.calm = guard.nextKeeper();
    await calm(4, 1);
    expect((await guard.round()).created).toEqual([]);
    await calm(1);
    expect((await guard.round()).created).toEqual(["lower-kube-system-1"]);
    const proposed = guard.find("lower-kube-system-1");
    expect(proposed.spec.notes.join("\n")).toContain("40Mi × 1.5 = 60Mi");
    await guard.untilPhase("lower-kube-system-1", "Proposed");
    const patches = (): number =>
      guard.sent.filter(({ method, path }) => method === "PATCH" && path === multusPath).length;
    const before = patches();
    await guard.say("lower-kube-system-1", "Approve");
    const decision = await guard.untilPhase("lower-kube-system-1", "Approved");
    expect(patches()).toBe(before);
    const carried = guard.carryOut(decision);
    await until("it watches", () => (message(decision).includes("it is watched until") ? true : undefined));
    expect(cni.limit()).toBe("64Mi");
    guard.aheadMs = 11 * minuteMs;
    expect(await carried).toBe("Succeeded");
    expect(cni.mark().split(" ")).toEqual([...raised.slice(0, 3), "64Mi", "-", expect.any(String) as string, "40Mi"]);
  }, 240_000);

  test("never while there is pressure: the proposal ends, and its approval lowers nothing", async () => {
    await raise("back-2");
    const { metadata } = await lowerDecision();
    await guard.untilPhase(metadata.name, "Proposed");
    usedBytes = 250 * mebibyte;
    await guard.calm.look(guard.facts, guard.term);
    const ended = await guard.untilPhase(metadata.name, "Expired");
    expect(ended.status?.message).toBe("Its cause is gone");
    expect(cni.limit()).toBe("256Mi");
  }, 240_000);

  test("and not where a person has set the limit since, although the plan was approved", async () => {
    await raise("back-3");
    const decision = await approved();
    await cni.setLimit("512Mi");
    expect(await guard.carryOut(decision)).toBe("Paused");
    expect(message(decision)).toContain("is 512Mi, not 256Mi");
    expect(cni.limit()).toBe("512Mi");
  }, 240_000);

  test("a kill with less memory pauses it at once, with the line that goes up again", async () => {
    await raise("back-4");
    const decision = await approved();
    const carried = guard.carryOut(decision);
    await until("it watches", () => (message(decision).includes("it is watched until") ? true : undefined));
    await cni.kill();
    expect(await carried).toBe("Paused");
    expect(message(decision)).toContain("kube-multus-ds-n1 on n1 was killed for memory; to go up again: kubectl");
    expect(message(decision)).toContain("--limits=memory=256Mi");
  }, 240_000);
});

const daemonSets = "/apis/apps/v1/namespaces/fc/daemonsets";
const main = "/spec/template/spec/containers/0";
const restart = "/spec/template/metadata/annotations/kubectl.kubernetes.io~1restartedAt";
const resources = { limits: { memory: "50Mi", cpu: "1" }, requests: { memory: "50Mi", cpu: "100m" } };
const daemonSet = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "back", annotations: { keep: "1" } },
  spec: {
    selector: { matchLabels: { app: "cni" } },
    template: {
      metadata: { labels: { app: "cni" }, annotations: { keep: "1" } },
      spec: {
        containers: [
          { name: "main", image: "i", resources },
          { name: "side", image: "i" },
        ],
      },
    },
  },
};

group("the policy lets the guard go back on a raise", () => {
  const path = `${daemonSets}/back`;
  const note = "/metadata/annotations/memory-before.levee.dev~1main";
  const time = "2026-05-11T10:30:00Z";
  const limit = (value: string): object => ({ op: "replace", path: `${main}/resources/limits/memory`, value });
  const request = (value: string): object => ({ op: "replace", path: `${main}/resources/requests/memory`, value });
  const mark = (...words: readonly string[]): object => ({ op: "add", path: note, value: words.join(" ") });
  let uid = "";

  function send(operations: readonly object[], isDry = true): Promise<Answer> {
    const type = "application/json-patch+json";
    const place = isDry ? `${path}?dryRun=All` : path;
    return server.ask({ method: "PATCH", path: place, body: operations, type, as: { user: guardUser } });
  }

  /** The policy's name and the words of the rule. */
  function expectRefused({ code, text }: Answer, words: string): void {
    expect([code, text]).toEqual([403, expect.stringContaining("levee-guard-changes-memory-only") as string]);
    expect(text).toContain(words);
  }

  beforeAll(async () => {
    server.must(["create", "namespace", "fc"]);
    const made = await server.ask({ method: "POST", path: daemonSets, body: daemonSet });
    uid = (JSON.parse(made.text) as { readonly metadata: { readonly uid: string } }).metadata.uid; // what was just made
  });

  test("whose annotation tells what was before, and nothing else", async () => {
    const raise = [limit("1Gi"), request("512Mi")];
    for (const words of [
      ["another", "50Mi", "50Mi", "1Gi", "512Mi", time, "-"],
      [uid, "10Mi", "50Mi", "1Gi", "512Mi", time, "-"],
      [uid, "50Mi", "10Mi", "1Gi", "512Mi", time, "-"],
      [uid, "50Mi", "50Mi", "2Gi", "512Mi", time, "-"],
      [uid, "50Mi", "50Mi", "1Gi", "50Mi", time, "-"],
      [uid, "50Mi", "50Mi", "1Gi", "512Mi", "now", "-"],
      [uid, "50Mi", "50Mi", "1Gi", "512Mi", time, "1Mi"],
      [uid, "50Mi", "50Mi", "1Gi", "512Mi", time],
    ])
      expectRefused(await send([...raise, mark(...words)]), "the annotation of a raise");
    // Not alone, not beside a restart, not for a container without a limit or of another name.
    const whole = mark(uid, "50Mi", "50Mi", "50Mi", "50Mi", time, "-");
    expectRefused(await send([whole]), "the annotation of a raise");
    const again = { op: "add", path: restart, value: time };
    expectRefused(await send([whole, again]), "the guard changes n");
    for (const name of ["side", "other"])
      expectRefused(
        await send([...raise, { ...whole, path: note.replace("main", name) }]),
        "the annotation of a raise",
      );
    expect(await send(raise)).toMatchObject({ code: 200 });
  });

  test("not without the annotation of a raise", async () => {
    expect(await send([limit("512Mi")], false)).toMatchObject({ code: 200 });
    const words = mark(uid, "50Mi", "50Mi", "256Mi", "50Mi", time, "100Mi");
    expectRefused(await send([limit("256Mi")]), "what it had raised itself");
    expectRefused(await send([limit("256Mi"), words]), "what it had raised itself");
  });

  test("not below what was before, what was seen, or with any other field; and only while nobody has changed it", async () => {
    const raised = mark(uid, "512Mi", "50Mi", "4Gi", "512Mi", time, "-");
    expect(await send([limit("4Gi"), request("512Mi"), raised], false)).toMatchObject({ code: 200 });
    const seen = (now: string, asks: string, peak: string): object => mark(uid, "512Mi", "50Mi", now, asks, time, peak);
    const refused: readonly (readonly object[])[] = [
      [limit("256Mi"), request("128Mi"), seen("256Mi", "128Mi", "100Mi")],
      [limit("1Gi"), request("10Mi"), seen("1Gi", "10Mi", "100Mi")],
      [limit("1Gi"), request("1Gi"), seen("1Gi", "1Gi", "100Mi")],
      [limit("1Gi"), seen("1Gi", "512Mi", "1025Mi")],
      [limit("1Gi"), seen("1Gi", "512Mi", "-")],
      [limit("1Gi"), seen("1Gi", "512Mi", "much")],
      [limit("1Gi")],
      [limit("1Gi"), mark(uid, "1Mi", "50Mi", "1Gi", "512Mi", time, "100Mi")],
      [limit("1Gi"), mark(uid, "4Gi", "512Mi", "1Gi", "512Mi", time, "100Mi")],
      [limit("1Gi"), seen("1Gi", "512Mi", "100Mi"), { op: "replace", path: `${main}/image`, value: "evil" }],
      [limit("1Gi"), seen("1Gi", "512Mi", "100Mi"), { op: "add", path: "/metadata/annotations/a", value: "b" }],
      [limit("1Gi"), { op: "remove", path: note }],
      [{ op: "remove", path: note }],
      [request("256Mi")],
    ];
    for (const operations of refused) expectRefused(await send(operations), "the guard changes n");
    expect(await send([limit("1Gi"), seen("1Gi", "512Mi", "100Mi")])).toMatchObject({ code: 200 });
    expect(await send([limit("1Gi"), request("256Mi"), seen("1Gi", "256Mi", "100Mi")], false)).toMatchObject({
      code: 200,
    });
    // Further down, and no further than before the raise.
    expect(await send([limit("512Mi"), seen("512Mi", "256Mi", "100Mi")])).toMatchObject({ code: 200 });
    // A raise from there keeps what was before the first.
    expect(await send([limit("2Gi"), mark(uid, "512Mi", "50Mi", "2Gi", "256Mi", time, "-")])).toMatchObject({
      code: 200,
    });
    // A person's value is not the guard's to take back.
    const body = [limit("3Gi")];
    expect(await server.ask({ method: "PATCH", path, body, type: "application/json-patch+json" })).toMatchObject({
      code: 200,
    });
    expectRefused(await send([limit("1Gi"), seen("1Gi", "256Mi", "100Mi")]), "what it had raised itself");
  });
});
