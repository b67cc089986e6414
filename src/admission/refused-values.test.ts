import { expect, test } from "bun:test";
import { settle } from "../base/virtual-clock.fixture.ts";
import { attachRequest, never, node, okRun, requestSlot, type Node } from "./admission.fixture.ts";

interface Failing {
  readonly pod: string;
  readonly namespace?: string;
  readonly values?: string;
  readonly words?: string;
}

/** An attempt whose plugin answers with an error. */
async function fails({ admission }: Node, failing: Failing): Promise<void> {
  const { pod, namespace = "a", values = "", words = "burst is missing" } = failing;
  const answer = { words, values };
  using permit = await admission.admit(attachRequest({ pod, namespace, networks: ["primary", "lan"] }), never);
  permit.settle({ cause: "network", network: "lan", reason: `lan (net1): ${words}`, answer });
}

function openOf({ admission }: Node): readonly string[] {
  return admission.facts().openNetworks.map(({ network }) => network);
}

test("values that a plugin refuses hold their pods and not the network, however many pods of a namespace ask for them", async () => {
  const here = node();
  for (let pod = 0; pod < 10; pod += 1) await fails(here, { pod: `bad${pod}`, values: `rate ${pod}` });
  expect(openOf(here)).toEqual([]);
  await fails(here, { pod: "bad1", values: "rate 1" });
  expect(here.admission.failuresOf("bad1")).toMatchObject({ failures: 2, failure: { cause: "values" } });
  expect(here.admission.facts().heldPods).toBe(1);
  // Another pod's first try needs no probe.
  const good = requestSlot(here.admission, attachRequest({ pod: "good", networks: ["primary", "lan"] }));
  await settle();
  expect(good.permit).toBeDefined();
});

test("a network that answers pods of two namespaces with the same words for different values is failing", async () => {
  const here = node();
  const words = "the switch is away";
  for (let pod = 0; pod < 3; pod += 1) await fails(here, { pod: `a${pod}`, values: `mac ${pod}`, words });
  for (let pod = 0; pod < 2; pod += 1)
    await fails(here, { pod: `b${pod}`, namespace: "b", values: `mac b${pod}`, words });
  expect(openOf(here)).toEqual([]);
  await fails(here, { pod: "a3", values: "mac 3", words });
  expect(openOf(here)).toEqual(["lan"]);
  expect(here.admission.failuresOf("a3")).toMatchObject({ failure: { cause: "network", network: "lan" } });
});

test.each([
  ["other words", { values: "b", words: "no such address" }],
  ["the same values", { values: "a" }],
])("answers to pods of two namespaces do not add up with %s", async (_what, other) => {
  const here = node();
  for (let pod = 0; pod < 5; pod += 1) {
    await fails(here, { pod: `a${pod}`, values: "a" });
    await fails(here, { pod: `b${pod}`, namespace: "b", ...other });
  }
  expect(openOf(here)).toEqual([]);
});

test("failures without values of the pod's own count, and so do those with values in the same words", async () => {
  const here = node();
  const words = "the switch is away";
  await fails(here, { pod: "plain", words });
  await fails(here, { pod: "mac1", values: "mac 1", words });
  await fails(here, { pod: "mac2", values: "mac 2", words: "an impossible address" });
  expect(openOf(here)).toEqual([]);
  await fails(here, { pod: "mac3", values: "mac 3", words });
  expect(openOf(here)).toEqual(["lan"]);
});

test("pods whose values were refused try at once when their network works again", async () => {
  const here = node();
  for (let time = 0; time < 2; time += 1) await fails(here, { pod: "mac", values: "mac", words: "no answer" });
  expect(here.admission.facts().heldPods).toBe(1);
  for (const pod of ["p1", "p2", "p3"]) await fails(here, { pod });
  expect(openOf(here)).toEqual(["lan"]);
  await here.clock.advance(5_000);
  using permit = await here.admission.admit(attachRequest({ pod: "p4", networks: ["primary", "lan"] }), never);
  permit.ran(okRun({ network: "lan" }));
  expect(openOf(here)).toEqual([]);
  expect(here.admission.facts().heldPods).toBe(0);
});
