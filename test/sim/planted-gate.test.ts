import { afterAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PlantedTree, type Patch } from "./planted-tree.fixture.ts";

const tree = new PlantedTree("src", "docs", "deploy", "examples/sim", "package.json", "tsconfig.json");
const example = "examples/sim/fleet-reboots.yaml";
/** The guard cannot follow the cluster while somebody works on a node. */
const blind = "blind.yaml";
writeFileSync(
  join(tree.folder, blind),
  `name: a guard that cannot follow the cluster
nodes: [{name: worker, count: 6}]
reboots: {over: 2m, takes: 1m, lookEvery: 1m}
faults:
  - {kind: watches-away, at: 5m, for: 20m}
  - {kind: cordon, nodes: [worker-6], at: 6m, for: 15m}
`,
);

afterAll(() => tree[Symbol.dispose]());

function run(scenario: string): ReturnType<PlantedTree["bun"]> {
  return tree.bun("src/main.ts", "sim", "run", scenario);
}

interface WrongGate extends Patch {
  readonly name: string;
  readonly scenario: string;
  readonly says: readonly string[];
}

const wrongGates: readonly WrongGate[] = [
  {
    name: "has no reason against any reboot",
    file: "src/guard/gate/gate-rules.ts",
    from: ".slice(0, reasonsMax)",
    to: ".slice(0, 0 * reasonsMax)",
    scenario: example,
    says: ["the rule fresh-allow was broken: ", "the rule stale-reboot was broken: ", "in spite of alert DiskFull"],
  },
  {
    name: "lets several nodes be rebooted at the same time",
    file: "src/guard/gate/gate-turn.ts",
    from: "  if (ready.length <= settings.atOnce) return gates;\n",
    to: "  if (ready.length <= settings.atOnce + 9) return gates;\n",
    scenario: example,
    says: ["the rule one-reboot was broken: "],
  },
  {
    name: "goes on with the facts that it had when it could still follow the cluster",
    file: "src/guard/gate/gate-keeper.ts",
    from: "const isBlind = !facts.isCurrent() || !objects.isCurrent();",
    to: "const isBlind = false;",
    scenario: blind,
    says: ["the rule fresh-allow was broken: ", "in spite of cordon of worker-6"],
  },
  {
    name: "never opens again after the first reboot",
    file: "src/guard/gate/reasons/other-node.ts",
    from: "const settleMs = 300_000;",
    to: "const settleMs = 300_000_000;",
    scenario: example,
    says: ["nodes were not rebooted within 240 min"],
  },
];

describe("levee sim run fails with a gate that", () => {
  for (const bug of wrongGates) {
    test(
      bug.name,
      () => {
        const { exitCode, output } = tree.withBug(bug, () => run(bug.scenario));
        for (const text of bug.says) expect(output).toContain(text);
        expect(output).toStartWith("× Levee does not hold ");
        expect(exitCode).toBe(1);
      },
      300_000,
    );
  }
});

describe("levee sim run", () => {
  test("holds both scenarios with the gate as it is", () => {
    for (const scenario of [example, blind]) {
      const { exitCode, output } = run(scenario);
      expect(output).toStartWith("✓ Levee holds ");
      expect(exitCode).toBe(0);
    }
  }, 300_000);
});
