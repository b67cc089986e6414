import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { leftOutcome } from "./left-outcome.ts";
import { nothingRan, type Outcome } from "./outcome.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "levee-outcome-"))));
afterEach(() => rmSync(folder, { recursive: true }));

function left(outcome: Outcome): string {
  const file = join(folder, "outcome.json");
  writeFileSync(file, JSON.stringify(outcome));
  return file;
}

const good: Outcome = { counts: { passed: 3, failed: 0 }, failed: [], unsteady: [], parts: [{ name: "a", ms: 1 }] };

test("leftOutcome is what the run left", () => {
  expect(leftOutcome(left(good), "npm test", 0)).toEqual(good);
});

test("leftOutcome of a run that left none is nothing when it ended well, and a failure otherwise", () => {
  expect(leftOutcome(join(folder, "none"), "npm run check", 0)).toEqual(nothingRan);
  expect(leftOutcome(join(folder, "none"), "npm run check", null)).toMatchObject({
    counts: { passed: 0, failed: 1 },
    failed: ["npm run check"],
  });
});

test("leftOutcome believes the exit code of a run that says all is well", () => {
  expect(leftOutcome(left(good), "npm test", 1)).toMatchObject({
    counts: { passed: 3, failed: 1 },
    failed: ["npm test"],
  });
});
