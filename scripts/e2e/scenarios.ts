/**
 * Runs scenarios on a cluster of one node, in its own namespaces. Failed scenarios run once more on a new cluster. Those
 * that pass then are reported as unsteady (see ../test/bun-test.ts).
 */
import type { Surroundings } from "../../test/e2e/the-cluster.ts";
import { nothingRan, withSecondLook, type Outcome } from "../test/outcome.ts";
import { runSuite, type SuiteRun } from "./suite-run.ts";

/** If more scenarios than this fail, a busy machine is not the reason. */
const secondLookScenariosMax = 3;

export type Around = Omit<Surroundings, "folder">;

export interface ScenarioRun {
  readonly around: Around;
  readonly names: readonly string[];
  /** The limit for a single scenario. */
  readonly timeoutMs: number;
}

export async function runScenarios(asked: ScenarioRun): Promise<Outcome> {
  if (asked.names.length === 0) return nothingRan;
  const first = await runOnce(asked);
  const again = againOf(first.groups, asked.names);
  if (again.length === 0) return first;
  console.log(`\n— once more, on a new cluster: ${again.join(", ")}`);
  return withSecondLook(first, await runOnce({ ...asked, names: again }));
}

/** The scenarios to run once more: none when all passed, and none when too many failed. */
export function againOf(failed: readonly string[], names: readonly string[]): readonly string[] {
  // The cluster did not start, so no scenario ran: run all of them again.
  if (failed.length > 0 && failed.every((group) => group === "")) return names;
  const own = names.filter((name) => failed.includes(name));
  const isClear = failed.every((group) => names.includes(group)) && own.length <= secondLookScenariosMax;
  if (!isClear || own.length === 0) return [];
  // The scenarios after it run on the runtime that it installs.
  const isBehind = (name: string): boolean =>
    names.includes(newRuntime) && names.indexOf(name) > names.indexOf(newRuntime);
  return names.filter((name) => own.includes(name) || (name === newRuntime && own.some(isBehind)));
}

const newRuntime = "new-runtime";

function runOnce({ around, names, timeoutMs }: ScenarioRun): Promise<SuiteRun> {
  return runSuite({
    suite: "test/e2e/suite.ts",
    names,
    timeoutMs,
    env: (folder) => {
      const surroundings: Surroundings = { ...around, folder };
      return { LEVEE_E2E: JSON.stringify(surroundings), LEVEE_E2E_ONLY: names.join(",") };
    },
  });
}
