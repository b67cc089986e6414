import { expect, test } from "bun:test";
import { Bulkhead } from "./bulkhead.ts";

const works = { isOpen: () => false, hasWorked: () => true, sparesSlots: true };

test("full gives a network half of the slots, rounded up, while a request without it waits", () => {
  const bulkhead = new Bulkhead(works);
  const [x, y] = [bulkhead.lane(["x"]), bulkhead.lane(["y"])];
  bulkhead.joined(x);
  bulkhead.joined(y);
  const grants = (slots: number): number => {
    let count = 0;
    for (; bulkhead.full(x, slots) === undefined && count < 9; count += 1) bulkhead.taken(x);
    for (let grant = 0; grant < count; grant += 1) bulkhead.freed(x);
    return count;
  };
  expect([1, 2, 3, 4, 5, 8].map(grants)).toEqual([1, 1, 2, 2, 3, 4]);
});

test("full lets the network that all have in common have the rest, but none that only some want", () => {
  const bulkhead = new Bulkhead(works);
  const [plain, extra] = [bulkhead.lane(["p"]), bulkhead.lane(["x", "p"])];
  bulkhead.joined(plain);
  bulkhead.joined(extra);
  bulkhead.taken(extra);
  expect(bulkhead.full(plain, 2)).toBeUndefined();
  expect(bulkhead.full(extra, 2)).toBe("x");
  bulkhead.left(plain);
  expect(bulkhead.full(extra, 2)).toBeUndefined();
});

test("full does not lend to a network whose plugin hangs, and hang frees its slot", () => {
  const bulkhead = new Bulkhead(works);
  const lane = bulkhead.lane(["p"]);
  bulkhead.joined(lane);
  bulkhead.taken(lane);
  bulkhead.taken(lane);
  expect(bulkhead.full(lane, 2)).toBeUndefined();
  expect(bulkhead.hang(lane, "p")).toBe(true);
  expect(bulkhead.full(lane, 2)).toBe("p");
  bulkhead.unhang(lane, "p");
  expect([bulkhead.full(lane, 2), bulkhead.hung]).toEqual([undefined, 0]);
});

test("hang takes 64 out of the count and no more, and none of a network that is not the lane's", () => {
  const bulkhead = new Bulkhead(works);
  const lane = bulkhead.lane(["p"]);
  for (let run = 0; run < 65; run += 1) bulkhead.taken(lane);
  expect(bulkhead.hang(lane, "q")).toBe(false);
  const hung = Array.from({ length: 65 }, () => bulkhead.hang(lane, "p"));
  expect([hung.filter(Boolean).length, hung.at(-1)]).toEqual([64, false]);
});

test("look keeps no slot for requests that wait for an open network", () => {
  const open = new Set<string>();
  const bulkhead = new Bulkhead({ ...works, isOpen: (network) => open.has(network) });
  const [x, y] = [bulkhead.lane(["x"]), bulkhead.lane(["y"])];
  bulkhead.joined(x);
  bulkhead.joined(y);
  bulkhead.taken(x);
  expect(bulkhead.full(x, 2)).toBe("x");
  open.add("y");
  bulkhead.look("y");
  expect(bulkhead.full(x, 2)).toBeUndefined();
  open.delete("y");
  bulkhead.look("y");
  expect(bulkhead.full(x, 2)).toBe("x");
});

test("lane gives one lane for one set of networks, and forgets it with its last user", () => {
  const bulkhead = new Bulkhead(works);
  const lane = bulkhead.lane(["p", "x", "x"]);
  expect(bulkhead.lane(["x", "p"])).toBe(lane);
  bulkhead.joined(lane);
  bulkhead.taken(lane);
  bulkhead.left(lane);
  expect(bulkhead.size).toBe(3);
  bulkhead.freed(lane);
  expect(bulkhead.size).toBe(0);
});

test("full gives a network that has not worked yet, or hangs, one slot while others wait, until it works", () => {
  const bulkhead = new Bulkhead({ ...works, hasWorked: (network) => network === "old" });
  const [fresh, old] = [bulkhead.lane(["new"]), bulkhead.lane(["old"])];
  bulkhead.joined(fresh);
  bulkhead.joined(old);
  bulkhead.taken(fresh);
  bulkhead.taken(old);
  // Nor is more than that kept for it: the other may have all the rest.
  expect([bulkhead.full(fresh, 2), bulkhead.full(old, 2)]).toEqual(["new", undefined]);
  bulkhead.worked("new");
  expect([bulkhead.full(fresh, 2), bulkhead.full(old, 2)]).toEqual(["new", "old"]);
  expect(bulkhead.full(fresh, 8)).toBeUndefined();
  bulkhead.taken(fresh);
  bulkhead.hang(fresh, "new", "vlan");
  expect([bulkhead.full(fresh, 8), bulkhead.hanging(fresh)?.hungPlugin]).toEqual(["new", "vlan"]);
  bulkhead.worked("new");
  expect([bulkhead.full(fresh, 8), bulkhead.hanging(fresh)]).toEqual([undefined, undefined]);
});

test("a network with a hung plugin may take all slots where that is the rule and no other call waits", () => {
  for (const sparesSlots of [true, false]) {
    const bulkhead = new Bulkhead({ ...works, sparesSlots });
    const lane = bulkhead.lane(["slow"]);
    bulkhead.joined(lane);
    for (let held = 0; held < 3; held += 1) bulkhead.taken(lane);
    bulkhead.hang(lane, "slow");
    expect(bulkhead.full(lane, 4)).toBe(sparesSlots ? "slow" : undefined);
  }
});
