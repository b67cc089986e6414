// Bad settings: all problems at once, each with key, value and remedy; exit code 1; nothing written, nothing listening.
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "bun:test";
import { Lab } from "../lab/lab.ts";
import "./node.ts";

async function refusal(lab: Lab): Promise<string> {
  const daemon = lab.launchDaemon();
  const code = await new Promise((resolve) => daemon.on("close", (exitCode) => resolve(exitCode)));
  expect(code).toBe(1);
  for (const path of [lab.stateDir, lab.socketDir, lab.cniDir]) expect(existsSync(path)).toBe(false);
  return lab.daemonLog;
}

test("every problem is told at once, with key, value and what to write instead", async () => {
  await using lab = await Lab.make();
  await lab.configure({
    addBudgetMs: "soon",
    delAttemptsMax: 0,
    namespaceIsolation: "maybe",
    binDir: "relative/bin",
    cniVersion: "7.7.7",
    delegates: {},
    logLevel: 5,
    attachCeiling: 1e9,
  });
  const said = await refusal(lab);
  const [first, ...lines] = said.trimEnd().split("\n");
  expect(first).toBe(`Error: Cannot use ${lab.path("daemon-config.json")} (setting-invalid)`);
  const wrong = [
    "addBudgetMs",
    "delAttemptsMax",
    "namespaceIsolation",
    "binDir",
    "cniVersion",
    "delegates",
    "logLevel",
    "attachCeiling",
  ];
  // Two spaces, the key, and so on, in the order of the file; what the lab itself sets may stand before.
  const keys = lines.map((line) => /^ {2}(\w+) is /.exec(line)?.[1]);
  expect(keys.toSorted()).toEqual(wrong.toSorted());
  const text = await readFile(lab.path("daemon-config.json"), "utf8");
  const places = keys.map((key) => text.indexOf(`"${key}"`));
  expect(places).toEqual(places.toSorted((left, right) => left - right));
  for (const value of ["soon", "maybe", "relative/bin", "7.7.7"]) expect(said).toContain(value);
});

for (const [what, text, expected] of [
  ["truncated", '{"cniVersion":"1.1.0",\n  "stateDir": ', "line 2"],
  ["no object", "[]", "JSON object"],
  ["empty", "", "Cannot read"],
] as const) {
  test(`a file that is ${what} is refused with its place`, async () => {
    await using lab = await Lab.make();
    await writeFile(lab.path("daemon-config.json"), text);
    expect(await refusal(lab)).toContain(expected);
  });
}

test("a file that is not there is refused by name", async () => {
  await using lab = await Lab.make();
  const { rm } = await import("node:fs/promises");
  await rm(lab.path("daemon-config.json"));
  expect(await refusal(lab)).toContain("daemon-config.json");
});

test("budgets that do not add up are refused", async () => {
  await using lab = await Lab.make();
  await lab.configure({ addBudgetMs: 20_000, addQueueMs: 15_000, addDelegatesMs: 25_000 });
  expect(await refusal(lab)).toContain("addBudgetMs");
});

test("an unknown key is no error, and is told once with the key that was meant", async () => {
  await using lab = await Lab.make();
  await lab.configure({
    delAttemptMax: 5,
    delegates: [{ cniVersion: "1.0.0", name: "p", ...lab.conf("programmable") }],
  });
  await lab.startDaemon();
  expect(lab.daemonLog).toContain("delAttemptMax");
  expect(lab.daemonLog).toContain("delAttemptsMax");
});
