import { expect, test } from "bun:test";
import { judgePressure, parseStall, parseWaitedMs } from "./pressure.ts";

const memory = `some avg10=12.50 avg60=3.10 avg300=0.80 total=4242
full avg10=4.00 avg60=1.00 avg300=0.20 total=2121
`;

test("parseStall reads the last ten seconds", () => {
  expect(parseStall(memory)).toEqual({ some: 12.5, full: 4 });
  expect(parseStall("some avg10=7.00 avg60=0.00 avg300=0.00 total=1\n")).toEqual({ some: 7, full: 0 });
});

test.each(["", "some", "Operation not supported", "full avg10=1.00"])("parseStall knows nothing from %j", (text) => {
  expect(parseStall(text)).toBeUndefined();
});

test("parseWaitedMs reads the whole time, and nothing from another format", () => {
  expect(parseWaitedMs(memory)).toBe(4.242);
  expect(parseWaitedMs("some avg10=7.00")).toBeUndefined();
});

test("judgePressure takes a kernel that does not tell for calm", () => {
  expect(judgePressure({})).toBe("calm");
  expect(judgePressure({ cpu: undefined, memory: undefined, io: undefined })).toBe("calm");
});

test.each([
  ["calm", { cpu: { some: 59, full: 0 }, memory: { some: 19, full: 9 }, io: { some: 99, full: 29 } }],
  ["busy", { cpu: { some: 60, full: 0 } }],
  ["high", { memory: { some: 20, full: 0 } }],
  ["high", { io: { some: 0, full: 30 } }],
  ["severe", { memory: { some: 20, full: 10 } }],
  ["severe", { io: { some: 60, full: 60 } }],
] as const)("judgePressure: %s", (level, pressure) => {
  expect(judgePressure(pressure)).toBe(level);
});
