/** The shipped rules, replayed minute by minute by the real promtool. The scenarios say in which minute each alert fires. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { killsAndReboots } from "./kills-and-reboots.ts";
import { argoApplications, blindness } from "./blindness.ts";
import { nearMisses } from "./near-misses.ts";
import { oomLoops } from "./oom-loops.ts";
import { outages } from "./outages.ts";
import { ownMetrics } from "./own-metrics.ts";
import { rebootGates } from "./reboot-gates.ts";
import { replay, type Scenario } from "./replay.ts";

const file = join(import.meta.dir, "../../deploy/alerts/levee.rules.yaml");
const rules = readFileSync(file, "utf8");
const all: readonly Scenario[] = [
  ...outages(),
  ...oomLoops,
  ...killsAndReboots,
  ...rebootGates,
  ...argoApplications,
  ...blindness,
  ...ownMetrics,
  ...nearMisses,
];

test("promtool finds no fault with the rule file", () => {
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "rules", "--lint=all", "--lint-fatal", file], {
    encoding: "utf8",
  });
  expect({ status, said: `${stdout}${stderr}` }).toMatchObject({
    status: 0,
    said: expect.stringContaining("SUCCESS") as string,
  });
});

test.each(all.map((scenario) => [scenario.name, scenario] as const))(
  "%s",
  (_name, scenario) => {
    expect(replay(scenario, rules)).toBe("");
  },
  60_000,
);

describe("a replay fails", () => {
  function named(part: string): Scenario {
    const found = all.find(({ name }) => name.includes(part));
    if (found === undefined) throw new Error(`No scenario is called ${part}`);
    return found;
  }

  /** The rules with something in them changed, which must be there. */
  function changed(from: RegExp, to: string): string {
    const other = rules.replace(from, to);
    expect(other).not.toBe(rules);
    return other;
  }

  test("when an alert comes a minute before or after it should", () => {
    const scenario = named("without an API server");
    for (const by of [-1, 1]) {
      const fires = scenario.fires.map((firing) => ({ ...firing, from: firing.from + by }));
      expect(replay({ ...scenario, fires }, rules)).toContain("LeveeBlind");
    }
  }, 60_000);

  test("when an alert fires that is not told of, or one that is told of does not", () => {
    const scenario = named("without an API server");
    expect(replay({ ...scenario, fires: [] }, rules)).toContain("LeveeBlind");
    const more = { ...scenario.fires[0], alert: "OwnerlessPods", of: {}, severity: "warning", from: 0 } as const;
    expect(replay({ ...scenario, fires: [...scenario.fires, more] }, rules)).toContain("OwnerlessPods");
  }, 60_000);

  // Rules that were tried first, and that were wrong.
  test.each([
    ["thresholds that end each other", "swings", /(count >= 25)$/mu, "$1 < 100"],
    ["pods counted without their age", "30 short Job", / and on [^\n]*scheduled_time > 300\)\n/u, "\n"],
    [
      "any restart taken for the container's own death",
      "clean exit",
      /(increase\(kube_pod_\w+_restarts_total\[1h\]\)\) > 0)\n(?:.*\n){4}/u,
      "$1\n",
    ],
    [
      "growth within half an hour only",
      "twelve",
      / +or\n +\(\n +namespace:levee_ownerless_pods:count >= 20\n(?:.*\n){6} +\)\n/u,
      "",
    ],
    [
      "a minimum of hours for growth",
      "build runners",
      / and\n +namespace:levee_ownerless_pods:min30m > .*\n.*\n.*offset 2h\n/u,
      "\n",
    ],
    ["pods counted that have their network", "bad image", / unless on [^\n]*pod_ip!=""\}\n/u, "\n"],
    ["no absolute number of ownerless pods", "history lost", /count >= 50/u, "count >= 5000"],
    [
      "the age of a sample taken for the age of its value",
      "knows of",
      /max by \(cluster, node\) \(min_over_time\(kured.*/u,
      "max by (cluster, node) (time() - timestamp(kured_reboot_required == 1)) > 86400",
    ],
    [
      "kured's own gauge behind a gate",
      "closed gate",
      /time\(\) - max by \(cluster, node\) \(levee_node.*/u,
      "kured_reboot_required == 1",
    ],
    [
      "pods counted that are gone",
      "whose node is removed",
      / and on \(cluster, namespace, pod\)\n +kube_pod_container_status_restarts_total\{.*\n/u,
      "\n",
    ],
    ["loops of a quarter of an hour only", "16, 18 and 20", / +> 2\.5\n/u, " > 1e9\n"],
    ["any restart beside a kill", "a person restarts", /\[5m\] offset 30m/u, "[1h]"],
    ["the node of this minute only", "no longer told", /max_over_time\((kube_pod_info\{node.*\})\[6h\]\)/u, "$1"],
    ["an absolute number of applications", "two of three", /(argocd_app_info\{.*\} == 1\)\))\n +and/u, "$1 >= 3 and"],
    ["a label lost", "the only cluster", / and on \(cluster\) absent_over_time\(.*\n/gu, "\n"],
    ["a gauge of a dying process", "history lost", /max_over_time\((container_memory_\w+\{[^}]*\})\[10m\]\)/u, "($1)"],
  ])(
    "with %s",
    (_what, scenario, from, to) => {
      const said = replay(named(scenario), changed(from, to));
      // It fails for what fired, not for rules that cannot be read.
      expect(said).toMatch(/exp:.*\n +got:/u);
    },
    60_000,
  );
});
