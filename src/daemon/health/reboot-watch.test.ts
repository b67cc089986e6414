import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { systemClock, type Clock } from "../../base/clock.ts";
import type { Hand } from "../../hands/hand.ts";
import { RebootSince } from "../../state/reboot-since.ts";
import type { FolderEntry } from "../../wire/folder-page.ts";
import { MetricsRegistry } from "../metrics/metrics-registry.ts";
import { RebootWatch } from "./reboot-watch.ts";

let stateDir = "";
let entries: FolderEntry[] | undefined;
let nowMs = 0;
let isHere = true;
let asked: unknown[] = [];

let monotonicMs = 0;
const clock: Clock = {
  ...systemClock,
  wallMs: () => nowMs,
  monotonicMs: () => monotonicMs,
  every: () => () => undefined,
};
const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "levee-reboot-"));
  entries = [];
  nowMs = 5_000_000;
  isHere = true;
  asked = [];
});

afterEach(() => rm(stateDir, { recursive: true }));

function sentinel(name: string, changedWallMs: number): FolderEntry {
  return { name, kind: "file", changedWallMs, content: undefined };
}

function make(bootId = "boot-1"): {
  readonly watch: RebootWatch;
  readonly look: () => Promise<void>;
  readonly text: () => string;
} {
  const metrics = new MetricsRegistry();
  const list = (...args: unknown[]): Promise<unknown> => {
    asked.push(args);
    return entries === undefined ? Promise.reject(new Error("gone")) : Promise.resolve({ entries });
  };
  const hand = { list, supports: () => true } as unknown as Hand; // only what it uses
  const since = new RebootSince(stateDir, bootId);
  const resident = (): Hand | undefined => (isHere ? hand : undefined);
  const watch = new RebootWatch({ clock, logger, metrics, nodeName: "n1", resident, since });
  const look = (): Promise<void> => {
    monotonicMs += 60_000;
    return watch.look();
  };
  return { watch, look, text: () => metrics.render().replaceAll(/^#.*\n/gmu, "") };
}

test("RebootWatch shows no series before its first look", async () => {
  const { look, text } = make();
  isHere = false;
  await look();
  expect(text()).toBe("");
  isHere = true;
  entries = undefined;
  await look();
  expect(text()).toBe("");
  expect(asked).toEqual([["/run", "reboot-"]]);
});

test.each(["reboot-required", "reboot-needed"])(
  "RebootWatch finds %s, and keeps its first time when the file is touched again",
  async (name) => {
    const { look, text } = make();
    await look();
    expect(text()).toBe('levee_node_reboot_required{node="n1"} 0\n');
    entries = [sentinel(name, 4_000_000), sentinel("reboot-required.pkgs", 1)];
    await look();
    const required =
      'levee_node_reboot_required{node="n1"} 1\nlevee_node_reboot_required_since_timestamp_seconds{node="n1"} 4000\n';
    expect(text()).toBe(required);
    entries = [sentinel(name, 4_900_000)];
    await look();
    expect(text()).toBe(required);
    const next = make();
    await next.look();
    expect(next.text()).toBe(required);
    const afterReboot = make("boot-2");
    await afterReboot.look();
    expect(afterReboot.text()).toContain('since_timestamp_seconds{node="n1"} 4900\n');
  },
);

test("RebootWatch forgets when the mark is removed, and accepts no time from the future", async () => {
  const { look, text } = make();
  entries = [sentinel("reboot-required", 9_000_000)];
  await look();
  expect(text()).toContain("} 5000\n");
  entries = [];
  await look();
  expect(text()).toBe('levee_node_reboot_required{node="n1"} 0\n');
  expect(await readFile(join(stateDir, "reboot-required-since"), "utf8").catch(() => "none")).toBe("none");
});

test("RebootSince treats a damaged file as missing", async () => {
  await writeFile(join(stateDir, "reboot-required-since"), "boot-1 soon\n");
  expect(await new RebootSince(stateDir, "boot-1").read()).toBeUndefined();
});

test("RebootWatch asks once a minute, however often it is called", async () => {
  const { watch, look } = make();
  await look();
  monotonicMs += 59_000;
  await watch.look();
  expect(asked).toHaveLength(1);
  await look();
  expect(asked).toHaveLength(2);
});
