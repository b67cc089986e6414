import { expect, test } from "bun:test";
import type { ClusterPod } from "../facts/cluster-pod.ts";
import { readyPod } from "../world.fixture.ts";
import { ChangeBook } from "./change-book.ts";
import { definition } from "./definition.fixture.ts";
import { networkUsers } from "./network-users.ts";
import { projectWatchedNetwork, type WatchedNetwork } from "./watched-network.ts";

const bridge = { cniVersion: "1.0.0", type: "bridge", bridge: "br57" };
const larger = { ...bridge, mtu: 9000 };

function lan(config: object | string, metadata: object = {}): WatchedNetwork {
  return projectWatchedNetwork(definition("lan", config, metadata))!;
}

function user(name: string, changes: Partial<ClusterPod> = {}): ClusterPod {
  return readyPod(name, { networks: "prod/wan prod/lan", ...changes });
}

/** A book that has seen the first configuration, and says what it finds at each later look. */
function watched(first: WatchedNetwork, pods: readonly ClusterPod[]) {
  const book = new ChangeBook();
  let nowMs = 0;
  const look = (networks: readonly WatchedNetwork[], now: readonly ClusterPod[] = pods): readonly string[] =>
    book
      .look(networks, networkUsers(now), (nowMs += 10_000))
      .map(
        (one) =>
          `${one.kind} ${one.network.namespace}/${one.network.name}: ${one.pods.map(({ name }) => name).join(",")}`,
      );
  expect(look([first])).toEqual([]);
  return look;
}

test("ChangeBook names the pods that started before a change, until they are gone", () => {
  const look = watched(lan(bridge), [user("a"), user("b")]);
  const changed = [lan(larger)];
  expect(look(changed)).toEqual(["changed prod/lan: a,b"]);
  expect(look(changed, [user("b"), user("c")])).toEqual(["changed prod/lan: b"]);
  expect(look(changed, [user("c")])).toEqual([]);
});

test("ChangeBook follows several changes, and forgets one that is taken back", () => {
  const look = watched(lan(bridge), [user("a")]);
  expect(look([lan(larger)], [user("a"), user("b")])).toEqual(["changed prod/lan: a,b"]);
  expect(look([lan({ ...bridge, mtu: 1400 })], [user("a"), user("b"), user("c")])).toEqual(["changed prod/lan: a,b,c"]);
  // Pod c has started with the second one.
  expect(look([lan(bridge)], [user("a"), user("b"), user("c")])).toEqual(["changed prod/lan: c"]);
  expect(look([lan(larger)], [user("c")])).toEqual([]);
});

test.each([
  ["only an annotation changes", lan(bridge, { annotations: { a: "b" }, resourceVersion: "2" }), [user("a")]],
  [
    "only white space and the order of keys change",
    lan('{"bridge":"br57", "type":"bridge",\n"cniVersion":"1.0.0"}'),
    [user("a")],
  ],
  ["it is replaced by an equal one", lan(bridge, { uid: "other" }), [user("a")]],
  ["no pod uses it", lan(larger), [user("a", { networks: "prod/wan test/lan" }), readyPod("b")]],
  ["its pods have not started", lan(larger), [user("a", { everRan: false })]],
  ["its pods have ended", lan(larger), [user("a", { phase: "Succeeded" }), user("b", { phase: "Failed" })]],
  ["its pods are being deleted", lan(larger), [user("a", { isDeleting: true })]],
] as const)("ChangeBook finds nothing when %s", (_why, after, pods) => {
  const look = watched(lan(bridge), pods);
  expect(look([after])).toEqual([]);
  expect(look([after])).toEqual([]);
});

test("ChangeBook names the pods of a deleted definition, unless it is back within some seconds", () => {
  const look = watched(lan(bridge), [user("a")]);
  expect(look([])).toEqual([]);
  expect(look([lan(bridge, { uid: "new" })])).toEqual([]);
  expect(look([])).toEqual([]);
  expect(look([])).toEqual(["deleted prod/lan: a"]);
  expect(look([lan(larger, { uid: "newer" })])).toEqual(["changed prod/lan: a"]);
});

test("ChangeBook forgets a deleted definition that no pod uses", () => {
  const look = watched(lan(bridge), [user("a", { networks: "prod/wan" })]);
  expect([look([]), look([])]).toEqual([[], []]);
  expect(look([], [user("a")])).toEqual([]);
  expect(look([lan(larger)], [user("a")])).toEqual([]);
});
