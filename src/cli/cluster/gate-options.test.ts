import { expect, test } from "bun:test";
import { failureOf } from "../failure-of.fixture.ts";
import { gateSettings } from "./gate-options.ts";

test("gateSettings has two minutes, one node at once and no door unless told", () => {
  expect(gateSettings({})).toEqual({
    expiryMs: 120_000,
    atOnce: 1,
    kured: ["kube-system/kured", "kured/kured"],
    doors: [],
  });
});

test("gateSettings takes doors, times, a window and kured's DaemonSet as they are written", () => {
  const settings = gateSettings({
    gateDoor: ["label", "http", "label"],
    gateExpiry: "60",
    gateAtOnce: "3",
    rebootWindow: "Sat,Sun 22:00-04:00 Europe/Berlin",
    kured: ["ops/my-kured"],
  });
  expect(settings).toMatchObject({ doors: ["label", "http"], expiryMs: 60_000, atOnce: 3, kured: ["ops/my-kured"] });
  expect(settings?.window?.timeZone).toBe("Europe/Berlin");
});

test("gateSettings has nothing for a guard without the gate", () => {
  expect(gateSettings({ gate: false })).toBeUndefined();
});

for (const [options, what] of [
  [{ gate: false, gateDoor: ["label"] }, "--gate-door together with --no-gate"],
  [{ gateDoor: ["window"] }, 'one of label, annotation, lease, http: current value is "window"'],
  [{ gateExpiry: "29" }, "--gate-expiry as it must be a number of seconds from 30 to 600"],
  [{ gateExpiry: "2m" }, 'current value is "2m"'],
  [{ gateAtOnce: "0" }, "--gate-at-once as it must be a number of nodes from 1 to 100"],
  [{ rebootWindow: "always" }, "--reboot-window as it has not the form"],
  [{ rebootWindow: "Mon 05:00-05:00" }, "never opens"],
  [{ rebootWindow: "Mon-Foo 02:00-05:00" }, "names no days"],
  [{ rebootWindow: "* 02:00-05:00 Mars/Base" }, "is no time zone"],
  [{ kured: ["kured"] }, "--kured as it must be a namespace and a DaemonSet"],
] as const) {
  test(`gateSettings refuses ${JSON.stringify(options)}`, async () => {
    const failure = await failureOf(Promise.try(() => gateSettings(options)));
    expect(failure.message).toContain(what);
  });
}
