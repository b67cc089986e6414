import { describe, expect, test } from "bun:test";
import type { Namespace, PodName, PodUid } from "../../base/brand.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { KubeError } from "../../kube/client/api.ts";
import { ManualClock, settleIo } from "../../kube/manual-clock.fixture.ts";
import { awaitPod, type AwaitedPod } from "./await-pod.ts";
import { emptyView, type LiveView, type View } from "../../view/view.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

const pod: PodFacts = {
  namespace: "default" as Namespace,
  name: "web" as PodName,
  uid: "u2" as PodUid,
  annotations: {},
  priority: undefined,
  isStatic: false,
};
const wanted: AwaitedPod = {
  namespace: pod.namespace,
  name: pod.name,
  uid: pod.uid,
  other: undefined,
  isWanted: ({ uid }) => uid === pod.uid,
};
const server = "https://127.0.0.1:6443";
const away = new KubeError("api-unreachable", "connect ECONNREFUSED");

/** A look-up of 5 s against a server that answers as the test sets it. */
class Lookup {
  readonly clock = new ManualClock();
  readonly asked: number[] = [];
  readonly left = new AbortController();
  isSynced = true;
  awaySinceMs: number | undefined;
  tellWatch: (pod: PodFacts) => void = () => undefined;

  start(read: (signal: AbortSignal, trial: number) => Promise<PodFacts | undefined>): ReturnType<typeof awaitPod> {
    const live: Partial<LiveView> = {
      server,
      isSynced: () => this.isSynced,
      awaySinceMs: () => this.awaySinceMs,
      readPod: (_namespace, _name, signal) => {
        this.asked.push(this.clock.monotonicMs());
        return read(signal, this.asked.length);
      },
    };
    const view: View = {
      ...emptyView,
      live: live as LiveView,
      waitForPod: (one, signal) =>
        Promise.race([
          new Promise<PodFacts>((resolve) => (this.tellWatch = resolve)),
          emptyView.waitForPod(one, signal),
        ]),
    };
    const needs = { view, clock: this.clock, config: { addLookupMs: 5_000 } as DaemonConfig };
    const looking = awaitPod(wanted, { endsMs: this.clock.monotonicMs() + 5_000, signal: this.left.signal }, needs);
    looking.catch(() => undefined);
    return looking;
  }
}

/** An answer that comes after `ms`. */
function after<T>(clock: ManualClock, ms: number, value: T): Promise<T> {
  return clock.sleep(ms).then(() => value);
}

describe("awaitPod", () => {
  test("does not ask the server when the watch is fast", async () => {
    const lookup = new Lookup();
    const found = lookup.start(() => Promise.resolve(pod));
    await lookup.clock.advance(40);
    lookup.tellWatch(pod);
    expect(await found).toEqual({ pod, how: "the watch brought it after 40 ms" });
    await lookup.clock.advance(10_000);
    expect(lookup.asked).toEqual([]);
  });

  test.each([
    [80, true, 330],
    [1_000, true, 1_250],
    [1_000, false, 1_500],
  ])(
    "reads once from a server with a round trip of %d ms, the copy being synced: %p",
    async (roundTripMs, isSynced, tookMs) => {
      const lookup = new Lookup();
      lookup.isSynced = isSynced;
      const found = lookup.start(() => after(lookup.clock, roundTripMs, pod));
      await lookup.clock.advance(4_000);
      expect(await found).toEqual({ pod, how: `the API server was asked for it after ${tookMs} ms` });
      expect(lookup.asked).toHaveLength(1);
    },
  );

  test("fails at once when the server has no such pod", async () => {
    const lookup = new Lookup();
    const found = lookup.start(() => Promise.resolve(undefined));
    await lookup.clock.advance(250);
    expect(found).rejects.toMatchObject({
      code: "pod-unknown",
      message: `Cannot find the pod default/web: it is neither in the local copy nor on the API server ${server}, and no annotations came with the call`,
    });
  });

  test("fails at once when the server has another pod with that name", async () => {
    const lookup = new Lookup();
    const found = lookup.start(() => Promise.resolve({ ...pod, uid: "u9" as PodUid }));
    await lookup.clock.advance(250);
    expect(found).rejects.toThrow('expected pod UID "u2" but got "u9" from Kube API at https://127.0.0.1:6443');
  });

  test("goes on asking a server that fails, and takes its later answer", async () => {
    const lookup = new Lookup();
    const found = lookup.start((_signal, trial) => (trial < 3 ? Promise.reject(away) : Promise.resolve(pod)));
    await lookup.clock.advance(2_000);
    expect((await found).pod).toBe(pod);
    expect(lookup.asked).toHaveLength(3);
  });

  test("answers try-later when the server is away, and names the server, the time and the reason", async () => {
    const lookup = new Lookup();
    lookup.awaySinceMs = lookup.clock.wallMs() - 29_000;
    const found = lookup.start(() => Promise.reject(away));
    await lookup.clock.advance(5_000);
    expect(found).rejects.toMatchObject({
      code: "try-later",
      cniCode: 11,
      message:
        "Cannot find the pod default/web now: it is not in the local copy, no annotations came with the call, and the API server https://127.0.0.1:6443 has not answered for 34 s: connect ECONNREFUSED",
    });
  });

  test("answers try-later when the server is silent", async () => {
    const lookup = new Lookup();
    const found = lookup.start((signal) => emptyView.waitForPod(wanted, signal));
    await lookup.clock.advance(5_000);
    expect(found).rejects.toMatchObject({ code: "try-later", message: expect.stringContaining("does not answer") });
  });

  test("repeats the answer of a server that refuses", async () => {
    const lookup = new Lookup();
    const found = lookup.start(() => Promise.reject(new KubeError("api-refused", "answered 403", { status: 403 })));
    await lookup.clock.advance(5_000);
    expect(found).rejects.toThrow("the API server https://127.0.0.1:6443 answers with an error: answered 403");
  });

  test("ends with its caller, and ends its request", async () => {
    const lookup = new Lookup();
    let isCut = false;
    const found = lookup.start((signal) => {
      signal.addEventListener("abort", () => (isCut = true));
      return emptyView.waitForPod(wanted, signal);
    });
    await lookup.clock.advance(300);
    lookup.left.abort(new Error("left"));
    await settleIo();
    expect(found).rejects.toThrow("left");
    expect(isCut).toBe(true);
  });
});
