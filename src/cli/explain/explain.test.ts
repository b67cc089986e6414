import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { decisionCauses, decisionPhases } from "../../guard/decision/decision.ts";
import { stepActions } from "../../guard/decision/step.ts";
import { errorCatalogue } from "../../base/errors.ts";
import { gateCodes } from "../../wire/gate-codes.ts";
import { lintCodes } from "../../lint/lint-codes.ts";
import { checkCodes } from "../check/check-codes.ts";
import { fakeShell } from "../fake-shell.fixture.ts";
import { runCli } from "../main.ts";
import { readinessFacts } from "./readiness-words.ts";
import { allTopics } from "./topics.ts";

async function levee(...argv: readonly string[]): Promise<{ status: number; out: string; err: string }> {
  const shell = fakeShell({ argv: ["explain", ...argv] });
  return { status: await runCli(shell), out: shell.stdout.text, err: shell.stderr.text };
}

test("allTopics has every check, error, phase and runbook, each with what to do", () => {
  const pages = readdirSync(join(import.meta.dir, "../../../docs/runbooks")).map((file) => file.replace(".md", ""));
  const names = allTopics().map(({ name }) => name);
  const wanted = [
    ...Object.keys(checkCodes),
    ...Object.keys(lintCodes),
    ...decisionPhases,
    ...pages.filter((page) => page !== "README"),
    ...Object.keys(errorCatalogue),
    ...stepActions,
    ...gateCodes,
    ...decisionCauses,
    ...Object.keys(readinessFacts),
    ...["approval-required", "plan-changed", "decision-ended", "decision-proposed"],
    ...["decision-unknown", "decision-unreadable", "guard-absent"],
  ];
  expect(names.toSorted()).toEqual(wanted.toSorted());
  expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
  for (const { name, text } of allTopics()) {
    expect(`${name}: ${/## What it means\n\n\S/u.test(text)}`).toBe(`${name}: true`);
    expect(`${name}: ${/## What to do\n\n\S/u.test(text)}`).toBe(`${name}: true`);
  }
});

describe("levee explain", () => {
  test.each([
    ["lve0301", "kubectl -n levee-system describe deployment levee-guard"],
    ["LVN0301", "Plugins ignore keys that they do not know"],
    ["network-unknown", "Create the network with the name and namespace"],
    ["multusoomloop", "A larger limit alone is eaten by the backlog."],
    ["Paused", "levee decisions resume NAME"],
    ["holdargoapp", "The guard changes nothing in Argo CD"],
    ["nodesnotready", "levee check network NAME --all names each node"],
    ["firingalert", "make an exception for its labels"],
    ["approval-required", "pass --plan-hash with the hash you read"],
  ])("tells what %s means, whatever the case", async (name, words) => {
    const { status, out } = await levee(name);
    expect(status).toBe(0);
    expect(out).toContain(words);
    expect(out).not.toMatch(/^#|\]\(/mu);
  });

  test("offers the nearest names for one that is not known, and ends with 2", async () => {
    expect(await levee("MultusOOMLop")).toMatchObject({
      status: 2,
      out: "",
      err: expect.stringContaining("try: levee explain MultusOOMLoop"),
    });
    expect((await levee("oom")).err).toContain("MultusOOMLoop");
    expect((await levee("qqqqqqqqqqqq")).err).toContain("which lists all names");
  });

  test("lists all names without one", async () => {
    const { out } = await levee();
    for (const name of ["LVE0101", "Proposed", "LeveeBlind", "io-failed"]) expect(out).toContain(`\n${name} `);
    expect((JSON.parse((await levee("-o", "json")).out) as unknown[]).length).toBe(allTopics().length);
  });
});
