import { describe, expect, test } from "bun:test";
import type { ConsolePod } from "../facts/console-pod.ts";
import { matchingPods, PodBook } from "./pod-book.ts";

function pod(name: string, more: Partial<ConsolePod> = {}): ConsolePod {
  const usual = { namespace: "shop", uid: name, node: "n1", state: "waiting", boundMs: 1_000, attachedMs: 0 } as const;
  return { ...usual, name, networks: ["shop/lan"], owner: "", oomKilledMs: 0, restarts: 0, ...more };
}

describe("PodBook", () => {
  test("counts waiting and attached pods by namespace, node and network through every change", () => {
    const book = new PodBook();
    const [one, two] = [pod("one"), pod("two", { namespace: "infra", node: "n2", boundMs: 500 })];
    for (const now of [one, two]) book.change({ before: undefined, now });
    expect([book.waiting, book.attached, book.done]).toEqual([2, 0, 0]);
    expect(book.byNamespace()).toEqual([
      ["infra", 1],
      ["shop", 1],
    ]);
    expect(book.longestWaiting().map((waits) => waits.pod)).toEqual(["two", "one"]);
    expect(book.useOf("shop/lan")).toEqual({ pods: 2, waiting: 2 });
    expect(book.waitingSince(600)).toBe(1);

    const attached = pod("one", { state: "attached", attachedMs: 2_000 });
    book.change({ before: one, now: attached });
    expect([book.waiting, book.attached, book.done]).toEqual([1, 1, 1]);
    expect([book.waitingOn("n1"), book.waitingOn("n2")]).toEqual([0, 1]);
    expect(book.nodesWithWaiting()).toEqual(["n2"]);

    book.change({ before: attached, now: undefined });
    book.change({ before: two, now: { ...two, state: "ended" } });
    expect([book.waiting, book.attached, book.done]).toEqual([0, 0, 1]);
    expect(book.networks()).toEqual([]);
    expect(book.byNamespace()).toEqual([]);
  });

  test("names pods of CNI daemons that were killed in the last hour, and no others", () => {
    const book = new PodBook();
    const killed = { state: "attached", oomKilledMs: 10_000_000, namespace: "kube-system" } as const;
    const changes = [
      pod("multus-a", { ...killed, owner: "DaemonSet/kube-multus-ds" }),
      pod("multus-b", { ...killed, owner: "DaemonSet/kube-multus-ds", oomKilledMs: 1 }),
      pod("other-a", { ...killed, owner: "DaemonSet/other" }),
      pod("job-a", { ...killed, owner: "Job/kube-multus-ds" }),
    ];
    for (const now of changes) book.change({ before: undefined, now });
    const daemons = new Set(["kube-system/kube-multus-ds"]);
    expect(book.killedOf(daemons, 10_000_001)).toEqual(
      new Map([["n1", [{ pod: "kube-system/multus-a", restarts: 0 }]]]),
    );
  });
});

describe("matchingPods", () => {
  test("finds part of a name, waiting pods first, and says how many more there are", () => {
    const many = Array.from({ length: 30 }, (_, at) => pod(`web-${at}`, { state: "attached" }));
    const found = matchingPods([...many, pod("web-x"), pod("web-h", { state: "host" })], " SHOP/Web ");
    expect(found.pods[0]).toMatchObject({ pod: "web-x", state: "waiting" });
    expect([found.pods.length, found.more]).toEqual([20, 11]);
    expect(matchingPods(many, "  ")).toEqual({ pods: [], more: 0 });
    expect(matchingPods(many, "<img onerror>").pods).toEqual([]);
  });
});
