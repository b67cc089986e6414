import { describe, expect, test } from "bun:test";
import type { PodFacts } from "./facts.ts";
import { PodWaiters } from "./pod-waiters.ts";

const pod: PodFacts = {
  namespace: "default" as never,
  name: "a" as never,
  uid: "" as never,
  annotations: {},
  priority: undefined,
  isStatic: false,
};

const anyPod = (): boolean => true;

describe("PodWaiters", () => {
  test("keeps waiting while the pod of that name is not the wanted one", async () => {
    const waiters = new PodWaiters();
    const successor = { ...pod, uid: "new" as never };
    const waiting = waiters.wait(
      "default/a",
      (candidate) => candidate.uid === successor.uid,
      new AbortController().signal,
    );
    waiters.serve(new Map([["default/a", pod]]));
    expect(waiters.size).toBe(1);
    waiters.serve(new Map([["default/a", successor]]));
    expect(await waiting).toBe(successor);
  });

  test("serves all who wait for a pod and leaves the others waiting", async () => {
    const waiters = new PodWaiters();
    const { signal } = new AbortController();
    const served = [waiters.wait("default/a", anyPod, signal), waiters.wait("default/a", anyPod, signal)];
    void waiters.wait("default/b", anyPod, signal);
    waiters.serve(new Map([["default/a", pod]]));
    expect(await Promise.all(served)).toEqual([pod, pod]);
    expect(waiters.size).toBe(1);
  });

  test("forgets who has given up", async () => {
    const waiters = new PodWaiters();
    const controller = new AbortController();
    const waiting = waiters.wait("default/a", anyPod, controller.signal).catch((thrown: unknown) => thrown);
    const reason = new Error("enough");
    controller.abort(reason);
    expect(await waiting).toBe(reason);
    expect(waiters.size).toBe(0);
    waiters.serve(new Map([["default/a", pod]]));
  });

  test("rejects all at the end", async () => {
    const waiters = new PodWaiters();
    const { signal } = new AbortController();
    const waiting = ["a", "b"].map((key) => waiters.wait(key, anyPod, signal).catch((thrown: unknown) => thrown));
    const reason = new Error("closed");
    waiters.rejectAll(reason);
    expect(await Promise.all(waiting)).toEqual([reason, reason]);
    expect(waiters.size).toBe(0);
  });
});
