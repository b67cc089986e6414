/**
 * `npm run e2e -- --vm [NAME...]`: Levee on a node as people have it, a virtual machine with systemd and cgroup v2, and
 * `npm run e2e -- --vm-smoke`: the machine boots and a pod is attached there. Needs no KVM; without it the machine is ten
 * to twenty times slower.
 */
import { removeLeftovers } from "../../test/e2e/apart.ts";
import { kubernetes } from "../../test/peers/kubernetes.ts";
import type { Peer } from "../../test/peers/peer.ts";
import { vmImage, madeVmImage } from "../../test/vm/image/vm-image.ts";
import { vmScenarios } from "../../test/vm/scenario-names.ts";
import type { VmSurroundings } from "../../test/vm/surroundings.ts";
import { makeReady } from "../make-ready.ts";
import { missingFor, thisMachine } from "../prerequisites.ts";
import { leaveOutcome } from "../test/left-outcome.ts";
import { isGood, lastLines, nothingRan, type Outcome } from "../test/outcome.ts";
import { runSuite } from "./suite-run.ts";

/** The limit for a single scenario: an emulated node needs minutes to come back from a reboot. */
const scenarioMs = 2_400_000;
const smokeMs = 240_000;

const busybox = "/bin/busybox";

export function vmUsage(): readonly string[] {
  return [
    "--vm runs Levee in a virtual machine with systemd and cgroup v2, and the control plane beside it. It is not part of a",
    "run without it. The machine's image is made once, of Debian's packages, and kept in ~/.cache/levee.",
    `  In this order, on one boot where possible: ${vmScenarios.join(", ")}`,
    "--vm-smoke boots the machine and attaches a pod there. A run of everything includes it once the image has been made.",
  ];
}

/** Whether the arguments ask for a virtual machine. */
export function isForVm(args: readonly string[]): boolean {
  return args.includes("--vm") || args.includes("--vm-smoke");
}

/** Runs what the arguments ask for; the exit code. */
export async function vmCommand(args: readonly string[]): Promise<number> {
  const names = args.filter((name) => !name.startsWith("--vm"));
  const known: readonly string[] = args.includes("--vm") ? vmScenarios : [];
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    console.error(`There is no scenario ${unknown.join(", ")} for a virtual machine\n\n${vmUsage().join("\n")}`);
    return 2;
  }
  if (!makeReady("vm")) return 1;
  removeLeftovers();
  const outcome = args.includes("--vm") ? await runVm(names) : await runVmSmoke();
  console.log(lastLines(outcome));
  leaveOutcome(outcome);
  return isGood(outcome) ? 0 : 1;
}

async function runVm(names: readonly string[]): Promise<Outcome> {
  const chosen = vmScenarios.filter((name) => names.length === 0 || names.includes(name));
  const programs = folderOf(await kubernetes());
  const image = folderOf(vmImage());
  return runSuite({
    suite: "test/vm/suite.ts",
    names: chosen,
    timeoutMs: scenarioMs,
    env: (folder) => ({ ...told({ folder, image, busybox, kubernetes: programs }), LEVEE_VM_ONLY: chosen.join(",") }),
  });
}

function runVmSmoke(): Promise<Outcome> {
  const image = folderOf(vmImage());
  return runSuite({
    suite: "test/vm/smoke.ts",
    names: ["smoke"],
    timeoutMs: smokeMs,
    env: (folder) => told({ folder, image, busybox, kubernetes: "" }),
  });
}

/** The smoke test as a part of everything: only where it needs neither an installation nor an image to be made. */
export async function runVmSmokeWhereReady(): Promise<Outcome> {
  const why = reasonToSkip();
  if (why === undefined) return runVmSmoke();
  console.log(`vm-smoke skipped: ${why}`);
  return nothingRan;
}

function reasonToSkip(): string | undefined {
  const [missing] = missingFor("vm", thisMachine());
  if (missing !== undefined) return `${missing.what} is missing; npm run e2e -- --vm-smoke installs it`;
  if (madeVmImage() === undefined) return "the machine's image has not been made; npm run e2e -- --vm-smoke makes it";
  return undefined;
}

function folderOf(peer: Peer): string {
  if ("missing" in peer) throw new Error(`Cannot run the tests in a virtual machine as ${peer.missing}`);
  return peer.folder;
}

function told(surroundings: VmSurroundings): Readonly<Record<string, string>> {
  return { LEVEE_VM: JSON.stringify(surroundings) };
}
