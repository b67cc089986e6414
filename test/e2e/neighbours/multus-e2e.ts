/** The scenarios of Multus' own end-to-end tests, with Levee and with Multus, on the runtime of today. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { leveeMeta, multusMeta, type MetaCni } from "../beside/meta-cni.ts";
import { e2eSettings, multusScenarios, uplink, type CarriedOver } from "../beside/multus-scenarios.ts";
import { reboot } from "../flows/reboot.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { Machine } from "../machine.ts";
import { leaseFolder, writePrimary } from "../networks.ts";
import { makeContainerd } from "../node/containerd.ts";
import { run } from "../run.ts";
import { surroundings } from "../the-cluster.ts";
import { theScene, theStoppedScene } from "../the-levee.ts";

const multusVersion = "v4.3.0";
const startMs = 240_000;
const outcomes = new Map<string, string>();

beforeAll(async () => {
  const scene = await theScene();
  const { cluster } = scene;
  // Device claims reach a container through CDI, which Debian's containerd does not know.
  const newer = makeContainerd(cluster.machine, "containerd-new", surroundings().containerd);
  await reboot(scene, () => cluster.replaceContainerd(newer));
  cluster.importImages();
  writePrimary("0.3.1");
  run("ip", "link", "add", uplink, "type", "veth", "peer", "name", `${uplink}-far`);
  for (const name of [uplink, `${uplink}-far`]) run("ip", "link", "set", name, "up");
}, startMs);

describe("with Levee", () => {
  runAll(async () => leveeMeta(await theScene()));
  test("nothing is left of them", async () => {
    await untilNothingIsLeft((await theScene()).levee);
  });
});

describe("with Multus", () => {
  runAll(async () => multusMeta(await theStoppedScene(), multusVersion));
  // It forgets a list's fields before DEL, so their addresses stay.
  afterAll(() => Machine.empty(leaseFolder));
});

test("docs/compat.md says the same", () => {
  const page = readFileSync(join(import.meta.dir, "../../../docs/compat.md"), "utf8");
  for (const { name } of multusScenarios) {
    const [multus, levee] = [`Multus ${multusVersion}`, "Levee"].map((meta) => outcomes.get(`${name} ${meta}`));
    expect(page).toContain(`\n| ${name} | ${multus} | ${levee} |`);
  }
});

function runAll(make: () => Promise<MetaCni>): void {
  let meta: MetaCni;
  beforeAll(async () => {
    meta = await make();
    await meta.serve(e2eSettings);
  }, startMs);
  for (const scenario of multusScenarios) test(scenario.name, () => runOne(scenario, meta));
  afterAll(() => meta.leave(), startMs);
}

/** A scenario that is known to fail must fail for the known reason. */
async function runOne(scenario: CarriedOver, meta: MetaCni): Promise<void> {
  const { cluster } = await theStoppedScene();
  const known = meta.name === "Levee" ? undefined : scenario.failsOnMultus;
  if (known === undefined) await scenario.run({ cluster, meta });
  else expect(await scenario.run({ cluster, meta }).then(() => "no failure", String)).toContain(known);
  outcomes.set(`${scenario.name} ${meta.name}`, known === undefined ? "passes" : "fails");
}
