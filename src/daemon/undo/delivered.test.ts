import { expect, test } from "bun:test";
import type { NetnsPath } from "../../base/brand.ts";
import type { Hand } from "../../hands/hand.ts";
import { aRecord } from "../../state/journal/record.fixture.ts";
import { Delivered } from "./delivered.ts";

const record = aRecord(1);
const name = `lan-${record.containerId}-${record.ifname}`;

/** What is found for a record in this phase, when the runtime keeps these results and so many processes are in the namespace. */
async function found(
  phase: "intent" | "committed",
  facts: { readonly results?: readonly string[]; readonly users?: number },
): Promise<boolean | string> {
  const files = (facts.results ?? []).map((file) => ({
    name: file,
    kind: "file",
    changedWallMs: record.startedWallMs,
    content: Buffer.alloc(0),
  }));
  const hand = {
    identity: { software: "a shim" },
    supports: () => true,
    list: () => Promise.resolve({ entries: files, isTruncated: false }),
    links: () => Promise.resolve({ names: ["lo"], isTruncated: false, users: facts.users }),
  } as unknown as Hand; // only what it uses
  const delivered = new Delivered({ config: { runtimeCniDir: "/var/lib/cni" } });
  return await delivered
    .find(hand, { ...record, phase }, "/run/netns/a" as NetnsPath)
    .catch((thrown: unknown) => String(thrown));
}

test.each(["intent", "committed"] as const)(
  "Delivered.find waits while processes are in the namespace of an %s",
  async (phase) => {
    expect(await found(phase, { users: 0 })).toBe(false);
    expect(await found(phase, { users: 1 })).toContain("a process is in its namespace");
    expect(await found(phase, { users: 2 })).toContain("2 processes are in its namespace");
    expect(await found(phase, {})).toContain("cannot say whether its container runs");
  },
);

test("Delivered.find keeps a committed attachment whose result the runtime has, and waits for an intent's", async () => {
  expect(await found("committed", { results: [name], users: 1 })).toBe(true);
  expect(await found("intent", { results: [name], users: 0 })).toContain("the journal lost it");
});
