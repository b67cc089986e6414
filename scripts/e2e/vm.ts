/**
 * `npm run e2e -- --vm [--debian VERSION] [NAME...]`: Levee on a node as people have it, a virtual machine with systemd and cgroup v2, and
 * `npm run e2e -- --vm-smoke`: the machine boots and a pod is attached there. Needs no KVM; without it the machine is ten
 * to twenty times slower.
 */
import { parseArgs } from "node:util";
import { removeLeftovers } from "../../test/e2e/apart.ts";
import { cniPlugins } from "../../test/peers/cni-plugins.ts";
import { kubernetes } from "../../test/peers/kubernetes.ts";
import type { Peer } from "../../test/peers/peer.ts";
import { vmImage, madeVmImage } from "../../test/vm/image/vm-image.ts";
import { releases, type DebianVersion } from "../../test/vm/image/recipe.ts";
import { builtinLinks, vmScenarios } from "../../test/vm/scenario-names.ts";
import type { VmSurroundings } from "../../test/vm/surroundings.ts";
import { makeReady } from "../make-ready.ts";
import { missingFor, thisMachine } from "../prerequisites.ts";
import { leaveOutcome } from "../test/left-outcome.ts";
import { addOutcomes, isGood, lastLines, nothingRan, type Outcome } from "../test/outcome.ts";
import { runSuite } from "./suite-run.ts";
import { imagesFolder, testImages } from "./test-images.ts";

/** The limit for a single scenario: an emulated node needs minutes to come back from a reboot. */
const scenarioMs = 2_400_000;
const smokeMs = 240_000;
/** 200 cases of a plugin on an emulated machine. */
const comparisonMs = 14_400_000;

const busybox = "/bin/busybox";

const usualDebian: DebianVersion = "12";
const versions: readonly string[] = Object.keys(releases);
const options = {
  "vm": { type: "boolean" },
  "vm-smoke": { type: "boolean" },
  "debian": { type: "string" },
} as const;

export function vmUsage(): readonly string[] {
  return [
    "--vm runs Levee in a virtual machine with systemd and cgroup v2, and the control plane beside it. It is not part of a",
    "run without it. The machine's image is made once, of Debian's packages, and kept in ~/.cache/levee.",
    `  In this order, on one boot where possible: ${vmScenarios.join(", ")}`,
    `  Only when it is named, on a machine without a cluster: ${builtinLinks}, which compares built-in plugins for hours`,
    `--debian ${versions.join("|")} chooses the machine's Debian, ${usualDebian} unless given.`,
    "--vm-smoke boots the machine and attaches a pod there. A run of everything includes it once the image has been made.",
  ];
}

/** Whether the arguments ask for a virtual machine. */
export function isForVm(args: readonly string[]): boolean {
  return args.includes("--vm") || args.includes("--vm-smoke");
}

interface Asked {
  readonly isSmoke: boolean;
  readonly debian: DebianVersion;
  readonly names: readonly string[];
}

/** Runs what the arguments ask for; the exit code. */
export async function vmCommand(args: readonly string[]): Promise<number> {
  const asked = readArguments(args);
  if (typeof asked === "string") {
    console.error(`${asked}\n\n${vmUsage().join("\n")}`);
    return 2;
  }
  if (!makeReady("vm")) return 1;
  removeLeftovers();
  const outcome = await (asked.isSmoke ? runVmSmoke(asked.debian) : runVm(asked));
  console.log(lastLines(outcome));
  leaveOutcome(outcome);
  return isGood(outcome) ? 0 : 1;
}

/** What was asked for, or what is wrong with it. */
export function readArguments(args: readonly string[]): Asked | string {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const known: readonly string[] = values.vm === true ? [...vmScenarios, builtinLinks] : [];
    const unknown = positionals.filter((name) => !known.includes(name));
    if (unknown.length > 0) return `There is no scenario ${unknown.join(", ")} for a virtual machine`;
    const debian = values.debian ?? usualDebian;
    if (!isKnownDebian(debian)) return `--debian must be ${versions.join(" or ")}: current value is ${debian}`;
    return { isSmoke: values.vm !== true, debian, names: positionals };
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

function isKnownDebian(version: string): version is DebianVersion {
  return versions.includes(version);
}

async function runVm({ names, debian }: Asked): Promise<Outcome> {
  const chosen = vmScenarios.filter((name) => names.length === 0 || names.includes(name));
  const first = chosen.length > 0 ? await runCluster(chosen, debian) : nothingRan;
  return names.includes(builtinLinks) ? addOutcomes(first, await compareLinks(debian)) : first;
}

async function compareLinks(debian: DebianVersion): Promise<Outcome> {
  const plugins = folderOf(await cniPlugins());
  const image = folderOf(vmImage(debian));
  return runSuite({
    suite: "test/vm/builtin-links.ts",
    names: [builtinLinks],
    timeoutMs: comparisonMs,
    env: (folder) => told({ folder, image, plugins }),
  });
}

async function runCluster(chosen: readonly string[], debian: DebianVersion): Promise<Outcome> {
  testImages();
  const programs = folderOf(await kubernetes());
  const image = folderOf(vmImage(debian));
  return runSuite({
    suite: "test/vm/suite.ts",
    names: chosen,
    timeoutMs: scenarioMs,
    env: (folder) => ({
      ...told({ folder, image, kubernetes: programs, images: imagesFolder }),
      LEVEE_VM_ONLY: chosen.join(","),
    }),
  });
}

function runVmSmoke(debian: DebianVersion): Promise<Outcome> {
  const image = folderOf(vmImage(debian));
  return runSuite({
    suite: "test/vm/smoke.ts",
    names: ["smoke"],
    timeoutMs: smokeMs,
    env: (folder) => told({ folder, image }),
  });
}

/** The smoke test as a part of everything: only where it needs neither an installation nor an image to be made. */
export async function runVmSmokeWhereReady(): Promise<Outcome> {
  const why = reasonToSkip();
  if (why === undefined) return runVmSmoke(usualDebian);
  console.log(`vm-smoke skipped: ${why}`);
  return nothingRan;
}

function reasonToSkip(): string | undefined {
  const [missing] = missingFor("vm", thisMachine());
  if (missing !== undefined) return `${missing.what} is missing; npm run e2e -- --vm-smoke installs it`;
  if (madeVmImage(usualDebian) === undefined)
    return "the machine's image has not been made; npm run e2e -- --vm-smoke makes it";
  return undefined;
}

function folderOf(peer: Peer): string {
  if ("missing" in peer) throw new Error(`Cannot run the tests in a virtual machine as ${peer.missing}`);
  return peer.folder;
}

function told(
  some: Partial<VmSurroundings> & Pick<VmSurroundings, "folder" | "image">,
): Readonly<Record<string, string>> {
  const surroundings: VmSurroundings = { busybox, kubernetes: "", images: "", plugins: "", ...some };
  return { LEVEE_VM: JSON.stringify(surroundings) };
}
