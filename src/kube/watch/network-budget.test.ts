import { expect, test } from "bun:test";
import type { Namespace } from "../../base/brand.ts";
import { NetworkBudget } from "./network-budget.ts";
import { ObjectStore } from "./object-store.ts";
import { sameNetwork } from "./project.ts";
import type { NetworkDefinition } from "../../view/network-definition.ts";

function network(name: string, chars: number): NetworkDefinition {
  return { namespace: "ns" as Namespace, name, uid: name, config: "x".repeat(chars), annotations: {} };
}

/** A copy that is kept within 100,000 characters. */
function copy(): { store: ObjectStore<NetworkDefinition>; budget: NetworkBudget } {
  const store = new ObjectStore<NetworkDefinition>(sameNetwork, (thrown) => {
    throw thrown;
  });
  const budget = new NetworkBudget({ known: (namespace, name) => store.get(namespace, name), charsMax: 100_000 });
  store.onChange((change) => budget.changed(change));
  return { store, budget };
}

test("NetworkBudget keeps the networks that fit, and the rest without configuration", () => {
  const { store, budget } = copy();
  const listed = ["a", "b", "c"].map((name) => budget.fit(network(name, 40_000)));
  expect(listed.map(({ isElided }) => isElided)).toEqual([undefined, undefined, true]);
  expect(listed[2]?.config).toBe('"it has 40000 characters and is not kept in the local copy"');
  store.replace(new Map(listed.map((one) => [`ns/${one.name}`, one])));
  // The same list again changes nothing.
  const again = ["a", "b", "c"].map((name) => store.known(budget.fit(network(name, 40_000))));
  expect([...again]).toEqual([...store.values()]);
});

test("NetworkBudget counts a list that failed half-way once, however often it begins again", () => {
  const { budget } = copy();
  for (let trial = 0; trial < 10; trial += 1)
    expect(["a", "b"].map((name) => budget.fit(network(name, 45_000)).isElided)).toEqual([undefined, undefined]);
});

test("NetworkBudget never leaves out a network of the usual size", () => {
  const { budget } = copy();
  for (let count = 0; count < 100; count += 1)
    expect(budget.fit(network(`n${count}`, 10_000)).isElided).toBeUndefined();
});

test("NetworkBudget never keeps a configuration that is too long to be used", () => {
  const budget = new NetworkBudget({ known: () => undefined });
  expect(budget.fit(network("a", 262_145)).isElided).toBe(true);
  expect(budget.fit(network("a", 262_144)).isElided).toBeUndefined();
});

test("NetworkBudget has room again when a network is deleted or made shorter", () => {
  const { store, budget } = copy();
  for (const name of ["a", "b"]) store.put(budget.fit(network(name, 50_000)));
  expect(budget.fit(network("c", 50_000)).isElided).toBe(true);
  store.remove("ns", "a");
  store.put(budget.fit(network("c", 50_000)));
  expect(store.get("ns", "c")?.isElided).toBeUndefined();
  store.put(budget.fit(network("c", 100)));
  store.put(budget.fit(network("d", 49_000)));
  expect(store.get("ns", "d")?.isElided).toBeUndefined();
});
