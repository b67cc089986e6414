import { describe, expect, test } from "bun:test";
import type { Knob } from "./knob.ts";
import { knobs, numberKnobs, pathKnobs } from "./knobs.ts";
import { multusKeys } from "./multus-keys.ts";

describe("knobs", () => {
  test.each(Object.entries(numberKnobs))("%s has its default within its bounds", (_key, knob) => {
    expect(knob.min).toBeLessThanOrEqual(knob.default);
    expect(knob.default).toBeLessThanOrEqual(knob.max);
    expect([knob.min, knob.default, knob.max].every(Number.isSafeInteger)).toBe(true);
  });

  test.each(Object.entries<Knob>(knobs))("%s has one sentence of reason that fits into a table", (_key, knob) => {
    expect(knob.reason).toMatch(/^[A-Z][^|\n]+\.$/u);
  });

  test("say their unit in their name", () => {
    for (const [key, knob] of Object.entries(numberKnobs)) expect(key.endsWith("Ms")).toBe(knob.unit === "ms");
  });

  test("have the defaults of the design", () => {
    expect(Object.fromEntries(Object.entries(knobs).map(([key, knob]) => [key, knob.default]))).toEqual({
      stateDir: "/var/lib/levee",
      directory: undefined,
      kubeletDir: "/var/lib/kubelet",
      deviceInfoDir: "/var/run/k8s.cni.cncf.io/devinfo",
      runtimeCniDir: "/var/lib/cni",
      socketDir: "/run/levee",
      daemonSocketDir: undefined,
      gateFile: undefined,
      tracesHeadersFile: undefined,
      tracesCaFile: undefined,
      addBudgetMs: 110_000,
      addLookupMs: 5_000,
      addDelegatesMs: 25_000,
      addUndoMs: 8_000,
      addQueueMs: 70_000,
      delBudgetMs: 50_000,
      delDelegatesMs: 25_000,
      delQueueMs: 36_000,
      delPatienceMs: 2_000,
      delAttemptsMax: 3,
      heartbeatMs: 5_000,
      attachCeiling: 8,
      uplinkGate: 1,
      attachStart: 2,
      detachCeiling: 32,
      waitingMax: 2_000,
      addHoldMs: 300_000,
      shutdownMs: 10_000,
      gcIntervalMs: 300_000,
      gcGraceMs: 30_000,
      recorderBytes: 4_194_304,
      gateLookMs: 20_000,
      tracesOneIn: 100,
      undoRetryMs: 5_000,
      healthPort: undefined,
      criticalPods: undefined,
      tracesEndpoint: undefined,
      hotPlug: true,
      claimNetworkData: false,
    });
  });

  test("leave room for the socket's name in a socket's path", () => {
    expect(pathKnobs.socketDir.bytesMax + "/levee.sock.0123456789abcdef.tmp".length).toBeLessThanOrEqual(107);
  });

  test("are marked as Multus' exactly where Multus has the key", () => {
    for (const [key, knob] of Object.entries<Knob>(knobs)) expect(key in multusKeys).toBe(knob.origin === "multus");
  });
});
