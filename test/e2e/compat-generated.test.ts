/**
 * Generated pods, annotations, networks, confs and plugins, given to the real Multus v4.3.0 and to Levee. A difference
 * that no line of docs/compat.md explains is a failure. `LEVEE_SEED=… LEVEE_TURNS=1` runs one case again, another seed
 * another thousand, more turns more of them; `LEVEE_WRITE_COUNTS=1` writes the counts of the standard seed into the page.
 */
import { expect, test } from "bun:test";
import { Random, trials } from "../hostile/random.ts";
import { missingForMultus } from "./compat/compat-multus-node.ts";
import { countsOnPage, countsText, purposefulRows, rowsApart, writeCounts } from "./compat/generated/compat-page.ts";
import { generatedCase } from "./compat/generated/kinds.ts";
import { migration } from "./compat/generated/migration.ts";
import { rules } from "./compat/generated/rules.ts";
import { runCases, runMigrations } from "./compat/generated/run-cases.ts";
import { Stage } from "./compat/generated/stage.ts";
import type { Tally } from "./compat/generated/tally.ts";
import { needsServer } from "./needs-server.ts";

const { group, beforeAll, afterAll } = needsServer("compat-generated", missingForMultus());

/** What the page shows. Other seeds and counts are for people who look for more. */
const isStandard = process.env["LEVEE_SEED"] === undefined && process.env["LEVEE_TURNS"] === undefined;
const cases = [...trials(1_000)].map((random) => generatedCase(random));
const moving = [...trials(1_000)].slice(0, Math.ceil(cases.length * 0.06));
const there = moving.map((random) => migration(random, ["t", true]));
const back = moving.map((random) => migration(new Random(random.seed), ["b", false]));
const seed = cases[0]?.seed ?? 0;
const runMs = 600_000;

let stage: Stage;
let tally: Tally;
const migrations = { there: 0, back: 0 };

group(`Levee beside Multus in ${cases.length} generated cases, LEVEE_SEED=${seed}`, () => {
  beforeAll(async () => {
    stage = await Stage.start();
    await stage.set([...cases, ...there, ...back]);
  }, runMs);

  // Each bridge takes the kernel a moment.
  afterAll(() => stage.stop(), runMs);

  test(
    "every difference is one of docs/compat.md",
    async () => {
      tally = await runCases(stage, cases);
      expect(tally.faults.join("\n\n")).toBe("");
    },
    runMs,
  );

  test(
    "what Multus attached Levee deletes, and nothing is left",
    async () => {
      const { count, left } = await runMigrations(stage, there, ["m", "l"]);
      migrations.there = count;
      expect(left).toEqual([]);
    },
    runMs,
  );

  test(
    "what Levee attached Multus deletes, and nothing is left",
    async () => {
      const { count, left } = await runMigrations(stage, back, ["l", "m"]);
      migrations.back = count;
      expect(left).toEqual([]);
    },
    runMs,
  );

  test("every rule has its line in docs/compat.md", async () => {
    const rows = await purposefulRows();
    expect(rules.map(({ row }) => row).filter((row) => !rows.includes(row))).toEqual([]);
  });

  test.skipIf(!isStandard)("no rule is there for nothing", () => {
    const dead = [...tally.rows].filter(([, count]) => count === 0).map(([row]) => row);
    expect(dead).toEqual([]);
  });

  test.skipIf(!isStandard)(
    "the counts are near those of docs/compat.md; LEVEE_WRITE_COUNTS=1 writes them",
    async () => {
      const counts = countsText(tally, migrations, seed);
      if (process.env["LEVEE_WRITE_COUNTS"] === "1") await writeCounts(counts);
      expect(rowsApart(counts, await countsOnPage())).toEqual([]);
    },
  );
});
