import { expect, test } from "bun:test";
import { defaultDeletionLimits, deletionsAllowed } from "./deletion-rule.ts";
import { massDeleteOf } from "./mass-delete-trailer.ts";

test("deletionsAllowed is a tenth, at most 20, at least 3, and never everything", () => {
  const allowed = [0, 1, 2, 3, 4, 5, 30, 99, 100, 200, 1_167].map((files) =>
    deletionsAllowed(files, defaultDeletionLimits),
  );
  expect(allowed).toEqual([3, 3, 1, 2, 3, 3, 3, 9, 10, 20, 20]);
});

test("massDeleteOf reads the last paragraph only, once, whatever git adds below", () => {
  expect(massDeleteOf("clean up\n\nMass-Delete: 42\n")).toBe(42);
  expect(massDeleteOf("clean up\n\nwhy\n\nReviewed-by: x\nmass-delete:42 \n# Please enter\n# the message\n")).toBe(42);
  expect(
    massDeleteOf(
      "x\n\nMass-Delete: 42\n# ------------------------ >8 ------------------------\ndiff\n\nMass-Delete: 7",
    ),
  ).toBe(42);
  for (const message of [
    "Mass-Delete: 42",
    "x\n\nMass-Delete: 42\n\nanother paragraph",
    "x\n\nMass-Delete: 42\nMass-Delete: 43",
    "x\n\nMass-Delete: all",
    "x\n\n#Mass-Delete: 42",
    "x\n\nno Mass-Delete: 42",
    "",
  ])
    expect([message, massDeleteOf(message)]).toEqual([message, undefined]);
});
