/**
 * `npm run e2e`: Levee on a real cluster of one node. Builds Kubernetes, Multus and the like (once, in the user's cache
 * folder), then runs test/e2e in its own namespaces, so that nothing stays on the machine.
 * `npm run e2e -- NAME...` runs only these scenarios and files; `--help` lists them. The files need no node, so they run
 * beside the scenarios. `npm run e2e -- --neighbours` runs Levee beside real programs of others (./e2e/neighbours.ts).
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { cniPlugins, releasedPlugins } from "../test/peers/cni-plugins.ts";
import { newContainerd } from "../test/peers/containerd.ts";
import { findGo } from "../test/peers/go-tool.ts";
import { helm } from "../test/peers/helm.ts";
import { krew } from "../test/peers/krew.ts";
import { kubernetes } from "../test/peers/kubernetes.ts";
import { builtKured, kured } from "../test/peers/kured.ts";
import { removeLeftovers } from "../test/e2e/apart.ts";
import { neighbours } from "../test/e2e/neighbour-names.ts";
import { namedOnly, scenarios as scenarioNames } from "../test/e2e/scenario-names.ts";
import { multus } from "../test/peers/multus.ts";
import { nerdctl } from "../test/peers/nerdctl.ts";
import { openTelemetryCollector } from "../test/peers/collector/opentelemetry-collector.ts";
import type { Peer } from "../test/peers/peer.ts";
import { build } from "./build.ts";
import { elfProblem } from "./build/elf.ts";
import { buildNeighbours, chooseNeighbours, isWholeAndGood, notRunLines, runNeighbours } from "./e2e/neighbours.ts";
import { makeNextImage } from "./e2e/next-image.ts";
import { runScenarios, type Around } from "./e2e/scenarios.ts";
import { testImages } from "./e2e/test-images.ts";
import { isForVm, runVmSmokeWhereReady, vmCommand, vmUsage } from "./e2e/vm.ts";
import { ensurePrerequisites, type Purpose } from "./prerequisites.ts";
import { bunTest } from "./test/bun-test.ts";
import { leaveOutcome } from "./test/left-outcome.ts";
import { addOutcomes, isGood, lastLines, nothingRan, type Outcome } from "./test/outcome.ts";

const root = resolve(import.meta.dirname, "..");
const busybox = "/bin/busybox";
/** Debian's busybox has 2 MiB. */
const busyboxBytesMax = 16 * 1024 * 1024;
/** The limit for a single scenario. */
const testTimeoutMs = 300_000;

/** The slowest begin first. */
const patientTests: readonly string[] = [
  "release",
  "compat-generated",
  "guard",
  "guard-acts",
  "guard-runs",
  "guard-sources",
];
/** Files that run at once. They mostly wait, and the scenarios leave them one core of two. */
const serverLanes = 3;

/** Files that need an API server and no node. Each starts its own server, with its own ports and folders. */
const serverTests = readdirSync(join(root, "test/e2e"))
  .flatMap((name) => /^(.+)\.test\.ts$/u.exec(name)?.[1] ?? [])
  .toSorted();

process.exit(await main(process.argv.slice(2)));

async function main(names: readonly string[]): Promise<number> {
  if (names.some((name) => name === "-h" || name === "--help")) {
    console.log(usage());
    return 0;
  }
  if (names.includes("--neighbours")) return await besideNeighbours(names.filter((name) => name !== "--neighbours"));
  if (isForVm(names)) return await vmCommand(names);
  if (names.includes("--peers")) return await makePeers();
  const isFull = names.includes("--full");
  return chooseAndRun(
    names.filter((name) => name !== "--full"),
    isFull,
  );
}

async function chooseAndRun(given: readonly string[], isFull: boolean): Promise<number> {
  const known: readonly string[] = [...scenarioNames, ...serverTests];
  const names = given.flatMap((name) =>
    name === "compat" ? serverTests.filter((file) => file.startsWith("compat-")) : [name],
  );
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    console.error(`There is no test ${unknown.join(", ")}\n\n${usage()}`);
    return 2;
  }
  if (names.includes("gate")) await makeKured();
  const chosen = {
    scenarios: scenarioNames.filter((name) => (names.length === 0 ? !namedOnly.has(name) : names.includes(name))),
    files: serverTests.filter((name) => names.length === 0 || names.includes(name)),
  };
  return run({ ...chosen, isFull, isAll: names.length === 0 });
}

function usage(): string {
  return [
    "Usage: npm run e2e [-- [--full] [NAME...] | --peers | --neighbours [--peers] [NAME...] | --vm [NAME...] | --vm-smoke]",
    "",
    "Levee on a real cluster of one node. Needs root and Go; what is built from Go modules is kept in ~/.cache/levee.",
    "",
    `Scenarios, on one cluster, in this order: ${scenarioNames.join(", ")}`,
    `Only when they are named: ${[...namedOnly].join(", ")}`,
    `With an API server and no node: ${serverTests.join(", ")}`,
    "compat stands for all files beside Multus, compat-...",
    "",
    "--peers builds the programs of others that are missing, and runs no tests.",
    "--full runs guard with the real limit: a pod waits five minutes. Without it the limit is two.",
    "",
    "--neighbours runs Levee beside real programs of others, each on a cluster of its own. They are not part of a run",
    "without it. The first time, each is built from its sources; --neighbours --peers builds them and runs no tests.",
    ...neighbours.map(({ name, about }) => `  ${name}: ${about}`),
    "",
    ...vmUsage(),
    "",
    "Examples:",
    "  npm run e2e",
    "  npm run e2e -- basic migration",
    "  npm run e2e -- compat",
    "  LEVEE_SEED=7 LEVEE_TURNS=3000 npm run e2e -- compat-generated",
    "  npm run e2e -- --full guard",
    "  npm run e2e -- --neighbours whereabouts",
    "  npm run e2e -- --vm basic reboot",
  ].join("\n");
}

interface Chosen {
  readonly scenarios: readonly string[];
  readonly files: readonly string[];
  readonly isFull: boolean;
  /** No test was named. */
  readonly isAll: boolean;
}

async function run({ scenarios, files, isFull, isAll }: Chosen): Promise<number> {
  if (isWithoutGo()) return 0;
  const around = await prepare();
  if (around === undefined) return 1;
  const onTheNode = runScenarios({ around, names: scenarios, timeoutMs: testTimeoutMs });
  const onServers = await runServerTests(files, { around, isFull, beside: onTheNode });
  const onBoth = addOutcomes(await onTheNode, onServers);
  // Alone, because the machine's emulated processors take every core.
  const outcome = isAll ? addOutcomes(onBoth, await runVmSmokeWhereReady()) : onBoth;
  console.log(lastLines(outcome));
  leaveOutcome(outcome);
  return isGood(outcome) ? 0 : 1;
}

async function besideNeighbours(args: readonly string[]): Promise<number> {
  const { chosen, unknown } = chooseNeighbours(
    neighbours,
    args.filter((name) => name !== "--peers"),
  );
  if (unknown.length > 0) {
    console.error(`There is no neighbour ${unknown.join(", ")}\n\n${usage()}`);
    return 2;
  }
  if (args.includes("--peers")) {
    const notBuilt = await buildNeighbours(chosen);
    for (const line of notRunLines(notBuilt)) console.error(line);
    return notBuilt.length === 0 ? 0 : 1;
  }
  const around = isWithoutGo() ? undefined : await prepare("neighbours");
  if (around === undefined) return 1;
  const outcome = await runNeighbours(chosen, ({ name, hasNoNode }) =>
    hasNoNode === true
      ? bunTest({ where: [`./test/e2e/neighbours/${name}.ts`], timeoutMs: testTimeoutMs, env: serverEnv(around) })
      : runScenarios({ around, names: [name], timeoutMs: testTimeoutMs }),
  );
  console.log([lastLines(outcome), ...notRunLines(outcome.notRun)].join("\n"));
  leaveOutcome(outcome);
  return isWholeAndGood(outcome) ? 0 : 1;
}

/** Levee and the programs of others, ready to run; undefined when something is missing, which was said. */
async function prepare(purpose: Purpose = "e2e"): Promise<Around | undefined> {
  if (!ensurePrerequisites(purpose)) return undefined;
  const busyboxProblem = elfProblem(readFileSync(busybox), busyboxBytesMax);
  if (busyboxProblem !== undefined) {
    console.error(`Cannot make images of ${busybox}: ${busyboxProblem}; on Debian install busybox-static`);
    return undefined;
  }
  build({ shimOnly: false });
  // Before the namespaces are made, in which there is no network.
  makeNextImage(testImages());
  const peers = await builtPeers();
  removeLeftovers();
  return { ...peers, busybox };
}

/** Builds the programs of others while the caller continues. */
async function makePeers(): Promise<number> {
  if (!isWithoutGo()) await builtPeers();
  return 0;
}

function isWithoutGo(): boolean {
  if (findGo() !== undefined) return false;
  console.log(
    "e2e skipped: Go is not installed, so kube-apiserver, kube-controller-manager, kubelet and Multus cannot be built; npm test covers everything that needs no cluster, including the guard's Decisions and steps",
  );
  return true;
}

/** Only for who asks for it by name: without kured the file says that it is skipped. */
async function makeKured(): Promise<void> {
  if (builtKured() !== undefined) return;
  const peer = await kured();
  if ("missing" in peer) console.error(`gate needs kured: ${peer.missing}`);
}

type Peers = Omit<Around, "busybox">;

async function builtPeers(): Promise<Peers> {
  const peers = {
    kubernetes: builtOrThrow(await kubernetes()),
    plugins: builtOrThrow(await cniPlugins()),
    containerd: builtOrThrow(await newContainerd()),
    multus: { "v4.2.2": builtOrThrow(await multus("v4.2.2")), "v4.3.0": builtOrThrow(await multus("v4.3.0")) },
  };
  for (const peer of [releasedPlugins, helm, krew, nerdctl]) builtOrThrow(await peer());
  // For `npm test`. Not every module proxy offers all of its parts, and without it only that test is skipped.
  const collector = await openTelemetryCollector();
  if ("missing" in collector) console.error(collector.missing);
  return peers;
}

interface ServerRun {
  readonly around: Around;
  readonly isFull: boolean;
  readonly beside: Promise<Outcome>;
}

async function runServerTests(names: readonly string[], { around, isFull, beside }: ServerRun): Promise<Outcome> {
  if (names.length === 0) return nothingRan;
  const env = { ...serverEnv(around), LEVEE_E2E_FULL: isFull ? "1" : "" };
  const ordered = [...patientTests.filter((name) => names.includes(name)), ...names];
  const where = [...new Set(ordered)].map((name) => `./test/e2e/${name}.test.ts`);
  return bunTest({ where, timeoutMs: testTimeoutMs, env, lanes: serverLanes, beside });
}

/** For tests that start an API server and no node. */
function serverEnv({ kubernetes: bin }: Around): Readonly<Record<string, string>> {
  return { PATH: `${bin}:${process.env["PATH"] ?? ""}` };
}

function builtOrThrow(peer: Peer): string {
  if ("missing" in peer) throw new Error(`Cannot run the end-to-end tests as ${peer.missing}`);
  return peer.folder;
}
