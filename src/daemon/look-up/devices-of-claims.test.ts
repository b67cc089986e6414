import { beforeEach, describe, expect, test } from "bun:test";
import type { NetworkSource } from "../../attachment/plan.ts";
import type { Namespace, NetworkName, PodName, PodUid } from "../../base/brand.ts";
import { KubeError } from "../../kube/client/api.ts";
import { ManualClock, settleIo } from "../../kube/manual-clock.fixture.ts";
import type { ClaimAnswer } from "../../view/claim-view.ts";
import type { PodFacts } from "../../view/pod-facts.ts";
import type { LiveView } from "../../view/view.ts";
import { devicesOfClaims } from "./devices-of-claims.ts";

const known: PodFacts = {
  namespace: "default" as Namespace,
  name: "vm" as PodName,
  uid: "u1" as PodUid,
  annotations: {},
  priority: undefined,
  isStatic: false,
};
const pod: PodFacts = { ...known, claims: { refs: [{ name: "net", claim: "c", isInStatus: true }] } };
const fromCall: PodFacts = { ...known, isFromCall: true };
const allocated = ["gpu", "a"].map((device) => ({ driver: "d", pool: "p", device, request: "r" }));

let clock: ManualClock;
let notes: string[];
let reads: PodFacts[];
/** Answers for the claim, one after the other; the last one stays. */
let answers: (ClaimAnswer | Error)[];

beforeEach(() => {
  clock = new ManualClock();
  [notes, reads, answers] = [[], [], [allocated]];
});

function next(): ClaimAnswer {
  const [answer = "absent"] = answers.length > 1 ? answers.splice(0, 1) : answers;
  if (answer instanceof Error) throw answer;
  return answer;
}

function ask(of: PodFacts, signal = new AbortController().signal): ReturnType<typeof devicesOfClaims> {
  const live = {
    server: "https://api.example",
    readPod: () => Promise.resolve(reads[0]),
    awaySinceMs: () => undefined,
    claims: {
      claim: async () => next(),
      published: ({ device }: { device: string }) =>
        Promise.resolve(device === "a" ? { deviceId: "0000:1", resourceName: "x/y" } : undefined),
    },
  } as unknown as LiveView; // only what is asked here
  const conf = {} as NetworkSource["conf"]; // not read here
  const sources = [{ network: "default/n" as NetworkName, conf, resourceName: "x/y" }];
  const note = (detail: string): void => void notes.push(detail);
  return devicesOfClaims(of, sources, { clock, limitMs: 5_000, signal, live, note });
}

const away = new KubeError("api-unreachable", "connection refused");
const refused = (status: number): KubeError => new KubeError("api-refused", "no", { status });

describe("devicesOfClaims", () => {
  test("waits for a server that is away, and tells of skipped devices once", async () => {
    answers = [away, refused(503), refused(429), allocated];
    const asked = ask(pod);
    for (let time = 0; time < 3; time += 1) {
      await settleIo();
      await clock.advance(250);
    }
    expect(await asked).toMatchObject([{ deviceId: "0000:1" }]);
    expect(notes).toEqual(["skipped d/p/gpu of the claim c, request r: no ResourceSlice of this node has it"]);
  });

  test("gives no device when the server stays away for the look-up's whole time", async () => {
    answers = [away];
    const asked = ask(pod).catch((thrown: unknown) => thrown);
    for (let time = 0; time < 25; time += 1) {
      await settleIo();
      await clock.advance(250);
    }
    expect(await asked).toMatchObject({
      code: "try-later",
      message:
        "Cannot find the devices of the claims of default/vm: the API server https://api.example does not answer: connection refused",
    });
  });

  test("does not wait where the server refuses, and names the missing right", () => {
    answers = [refused(403)];
    expect(ask(pod)).rejects.toMatchObject({
      code: "try-later",
      message: expect.stringContaining("apply the ClusterRole of this release"),
    });
  });

  test("an ADD that is given up ends with its own reason", async () => {
    answers = [away];
    const caller = new AbortController();
    const asked = ask(pod, caller.signal).catch((thrown: unknown) => thrown);
    await settleIo();
    const reason = new Error("DEL came");
    caller.abort(reason);
    await settleIo();
    expect(await asked).toBe(reason);
  });
});

describe("devicesOfClaims of a pod that came with the call", () => {
  test("reads its status from the server", async () => {
    reads = [pod];
    expect(await ask(fromCall)).toMatchObject([{ deviceId: "0000:1" }]);
    reads = [known];
    expect(await ask(fromCall)).toEqual([]);
  });

  test("does not take another pod's claims for its own", () => {
    reads = [{ ...pod, uid: "u2" as PodUid }];
    expect(ask(fromCall)).rejects.toThrow("the API server has no such pod");
    reads = [];
    expect(ask(fromCall)).rejects.toMatchObject({ code: "try-later" });
    expect(ask({ ...fromCall, isStatic: true })).resolves.toEqual([]);
  });
});
