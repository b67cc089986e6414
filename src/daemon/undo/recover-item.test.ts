import { expect, test } from "bun:test";
import type { ContainerId, IfName } from "../../base/brand.ts";
import type { NetnsIdentity } from "../../base/identity.ts";
import { noArgs } from "../../cni/cni-args.ts";
import { asJsonText } from "../../cni/json-text.ts";
import type { Hand } from "../../hands/hand.ts";
import type { FoundFile } from "../../wire/outcome.ts";
import { Turns } from "../serve/turns.ts";
import type { LostContainer } from "./lost-container.ts";
import { RecoverItem, type RecoverNeeds } from "./recover-item.ts";

const numbers: NetnsIdentity = { device: 4n, inode: 9n };

/** The kept DEL of an unknown container as it is carried out, when this is at its path by now. */
async function carriedOut(
  told: NetnsIdentity | undefined,
  found: FoundFile | undefined,
  attempts = 0,
): Promise<LostContainer | undefined> {
  const deleted: LostContainer[] = [];
  const item = new RecoverItem({
    turns: new Turns(),
    journal: { find: () => undefined },
    offline: { has: () => true, drop: () => Promise.resolve() },
    unknown: { delete: (_hand: Hand, container: LostContainer) => Promise.resolve(void deleted.push(container)) },
  } as unknown as RecoverNeeds); // only what such a DEL uses
  const request = {
    name: "c1:eth0.del",
    containerId: "c1" as ContainerId,
    ifname: "eth0" as IfName,
    netns: "/run/netns/a",
    netnsIdentity: told,
    args: noArgs,
    cniPath: "",
    config: asJsonText("{}", "the test"),
  };
  const hand = { isResident: true, stat: () => Promise.resolve([found]) } as unknown as Hand; // only what it uses
  const work = { kind: "offline", request, notBeforeMs: 0, pauseMs: 0, attempts, loggedMs: 0 } as const;
  await item.carryOut(hand, work, { signal: new AbortController().signal, limitMs: 1_000 });
  expect(deleted).toHaveLength(1);
  return deleted[0];
}

async function placeOf(...facts: Parameters<typeof carriedOut>): Promise<LostContainer["now"]> {
  return (await carriedOut(...facts))?.now ?? { path: "", identity: undefined };
}

test("carryOut: a kept DEL works in the namespace that its shim saw, and in no later one at that path", async () => {
  const seen = { ...numbers, cookie: 1n };
  expect(await placeOf(seen, { ...seen, isNetns: true })).toMatchObject({ identity: seen });
  expect((await placeOf(seen, { ...numbers, cookie: 2n, isNetns: true })).identity).toBeUndefined();
  expect((await placeOf(undefined, { ...seen, isNetns: true })).identity).toBeUndefined();
  expect((await placeOf(seen, { ...numbers, isNetns: false })).identity).toBeUndefined();
  expect((await placeOf(seen, undefined)).identity).toBeUndefined();
  // A shim of before cookies.
  expect(await placeOf(numbers, { ...seen, isNetns: true })).toMatchObject({ identity: seen });
});

test("carryOut: a namespace that its shim saw and that is gone is a sign, and so are ten tries that could not tell", async () => {
  const signOf = async (...facts: Parameters<typeof carriedOut>): Promise<string | undefined> =>
    (await carriedOut(...facts))?.kept?.sign;
  expect(await signOf(numbers, undefined)).toContain("it had a network namespace");
  expect(await signOf(numbers, { ...numbers, isNetns: true })).toBeUndefined();
  expect(await signOf(undefined, undefined, 9)).toBeUndefined();
  expect(await signOf(undefined, undefined, 10)).toContain("10 looks could not tell");
});
