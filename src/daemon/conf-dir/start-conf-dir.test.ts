import { expect, test } from "bun:test";
import { failure, note, warning, type ConfDirFacts } from "./conf-dir-facts.ts";
import { confCheck } from "./start-conf-dir.ts";

const facts: ConfDirFacts = {
  state: "in-force",
  path: "/c/00-levee.conf",
  primary: "/c/10-a",
  problems: [],
  writes: 1,
};

test("confCheck passes while the conf is in force, despite notes", () => {
  const problems = [note("chained", "made a list by another program")];
  expect(confCheck({ ...facts, state: "chained", problems })).toMatchObject({ name: "conf", state: "ok" });
});

test("confCheck warns after a mend, and fails while the runtime does not call Levee", () => {
  const problems = [warning("tampered", "it was removed", "find out which program does this")];
  expect(confCheck({ ...facts, problems })).toEqual({
    name: "conf",
    state: "warning",
    detail: "it was removed",
    hint: "find out which program does this",
  });
  expect(confCheck({ ...facts, state: "contested", problems })).toMatchObject({
    state: "failed",
    detail: "/c/00-levee.conf is not in force (contested): it was removed",
  });
});

test("confCheck fails when no pod can start although the conf is in force", () => {
  const problems = [failure("shim-missing", "no shim", "install it")];
  expect(confCheck({ ...facts, problems })).toMatchObject({ state: "failed", detail: "no shim", hint: "install it" });
});
