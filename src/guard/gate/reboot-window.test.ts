import { expect, test } from "bun:test";
import { isInWindow, parseRebootWindow, type RebootWindow } from "./reboot-window.ts";

function isOpen(text: string, at: string): boolean {
  return isInWindow(parseRebootWindow(text) as RebootWindow, Date.parse(at)); // a valid one
}

test("isInWindow knows days and times, with its end outside", () => {
  // 1 June 2026 is a Monday.
  expect(isOpen("Mon-Fri 02:00-05:00", "2026-06-01T02:00:00Z")).toBe(true);
  expect(isOpen("Mon-Fri 02:00-05:00", "2026-06-01T04:59:59Z")).toBe(true);
  expect(isOpen("Mon-Fri 02:00-05:00", "2026-06-01T05:00:00Z")).toBe(false);
  expect(isOpen("Mon-Fri 02:00-05:00", "2026-05-31T03:00:00Z")).toBe(false);
  expect(isOpen("Sat,Sun 00:00-24:00", "2026-05-31T23:59:00Z")).toBe(true);
  expect(isOpen("Fri-Mon 02:00-05:00", "2026-05-31T03:00:00Z")).toBe(true);
});

test("isInWindow lets a window over midnight belong to the day on which it opens", () => {
  expect(isOpen("Sun 22:00-04:00", "2026-05-31T23:00:00Z")).toBe(true);
  expect(isOpen("Sun 22:00-04:00", "2026-06-01T03:59:00Z")).toBe(true);
  expect(isOpen("Sun 22:00-04:00", "2026-05-31T03:00:00Z")).toBe(false);
});

test("isInWindow uses the time zone, in summer and winter", () => {
  expect(isOpen("* 02:00-05:00 Europe/Berlin", "2026-06-01T00:30:00Z")).toBe(true);
  expect(isOpen("* 02:00-05:00 Europe/Berlin", "2026-12-01T00:30:00Z")).toBe(false);
  expect(isOpen("* 02:00-05:00 Europe/Berlin", "2026-12-01T01:30:00Z")).toBe(true);
});

for (const text of [
  "",
  "Mon",
  "Mon 2-5",
  "Mon 25:00-26:00",
  "Mon 02:61-03:00",
  "mon 02:00-03:00",
  "Mon-Tue-Wed 02:00-03:00",
])
  test(`parseRebootWindow refuses ${JSON.stringify(text)}`, () => {
    expect(parseRebootWindow(text)).toHaveProperty("problem");
  });
