import { expect, test } from "bun:test";
import { LeveeError } from "../../base/errors.ts";
import type { PluginType } from "../../base/brand.ts";
import { asJsonText } from "../../cni/json-text.ts";
import { aChain, aRecord } from "../../state/journal/record.fixture.ts";
import { delPatience, unlessPromised } from "./del-patience.ts";

const config = { delQueueMs: 36_000, delDelegatesMs: 25_000 };

function patience(leftMs: number, usualMs: number): number {
  return delPatience(leftMs, undefined, { config, admission: { usualMs: () => usualMs } });
}

test("delPatience leaves ten seconds, or three times the usual time, to the plugins", () => {
  expect(patience(48_000, 50)).toBe(36_000);
  expect(patience(40_000, 50)).toBe(28_000);
  expect(patience(48_000, 6_000)).toBe(28_000);
  expect(patience(48_000, 60_000)).toBe(22_000);
});

test("delPatience keeps half of a short budget for the plugins, and is never nothing", () => {
  expect(patience(10_000, 50)).toBe(3_000);
  expect(patience(1_000, 50)).toBe(1);
});

function recordWith(type: string) {
  const link = { type: type as PluginType, stdin: asJsonText("{}", "a plugin") };
  return aRecord(1, { chains: [aChain({ links: [link] })] });
}

test("unlessPromised makes the runtime retry a DEL whose plugins may need the namespace, and leaves other errors", () => {
  const late = new LeveeError("try-later", "the line is long");
  expect(unlessPromised(late, recordWith("macvlan"))).toBe(late);
  expect(unlessPromised(late, recordWith("sriov"))).toMatchObject({ code: "delete-later", cniCode: 11, cause: late });
  const other = new LeveeError("delegate-failed", "no");
  expect(unlessPromised(other, recordWith("sriov"))).toBe(other);
});
