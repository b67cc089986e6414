import { mkdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { encodeLine } from "../../src/state/files/checked-line.ts";
import type { GcAnswer, GcFinding } from "../../src/wire/node-view.ts";
import type { Lab } from "../lab/lab.ts";
import { containerId, startNode, type NodeOptions } from "./node.ts";

/** Short enough for a test, long enough that two looks are two. */
export const graceMs = 400;

/** A node whose own rounds are off unless a test turns them on, and whose runtime keeps its files in the lab. */
export async function startGcNode(
  settings: Readonly<Record<string, unknown>> = {},
  more: NodeOptions = {},
): Promise<Lab> {
  return startNode({
    withHand: true,
    ...more,
    prepare: async (lab) => {
      const primary = { cniVersion: "1.1.0", name: "primary", ...lab.conf("first") };
      const common = { runtimeCniDir: lab.path("cni"), gcIntervalMs: 0, gcGraceMs: graceMs };
      await lab.configure({ delegates: [primary], ...common, ...settings });
      await more.prepare?.(lab);
    },
  });
}

/** One round that was asked for, from its beginning to its end. */
export async function round(lab: Lab, run: "look" | "fix"): Promise<GcAnswer> {
  const { round: number } = await lab.ask<GcAnswer>({ ask: "gc", run });
  return lab.until("the round has ended", async () => {
    const answer = await lab.ask<GcAnswer>({ ask: "gc" });
    return answer.finished >= number ? answer : undefined;
  });
}

/** Two looks with enough time in between, the second of which may act. */
export async function secondRound(lab: Lab, run: "look" | "fix"): Promise<GcAnswer> {
  await round(lab, "look");
  await Bun.sleep(graceMs + 50);
  return round(lab, run);
}

/** `attachment <container's first letters> <action>`, in the order of the answer. */
export function inShort({ findings }: GcAnswer): readonly string[] {
  return findings.map((finding) => `${finding.what} ${nameIn(finding)} ${finding.action}`);
}

function nameIn({ pod, containerId: id, address }: GcFinding): string {
  if (address !== "") return address;
  return pod === "" ? id.replace(/[0-9].*$/u, "") : pod;
}

/** Attaches a container of that name to a new namespace; gives its path. */
export async function attach(lab: Lab, name: string, args = ""): Promise<string> {
  const netns = lab.netns(name);
  const outcome = await lab.cni("ADD", { containerId: containerId(name), netns, args });
  if (outcome.exitCode !== 0) throw new Error(outcome.stdout);
  return netns;
}

/** What a runtime's libcni leaves when an ADD has succeeded. */
export async function runtimeResult(lab: Lab, id: string): Promise<void> {
  const folder = lab.path("cni/results");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `levee-${id}-eth0`), "{}");
}

/** An address that host-local holds for a container. */
export async function lease(
  folder: string,
  address: string,
  options: { content: string; ageMs: number },
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, address);
  await writeFile(file, options.content);
  const then = new Date(Date.now() - options.ageMs);
  await utimes(file, then, then);
  return file;
}

/** Makes everything in the journal of an earlier boot, as after a reboot, and starts daemon and hand again. */
export async function reboot(lab: Lab): Promise<void> {
  await lab.killHand();
  await lab.killDaemon();
  const path = join(lab.stateDir, "journal.log");
  const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line.includes("{"));
  const earlier = lines.map((line) =>
    encodeLine("L", line.slice(line.indexOf("{")).replace(/"bootId":"[^"]+"/gu, '"bootId":"an-earlier-boot"')),
  );
  await writeFile(path, earlier.join(""));
  await lab.startDaemon();
  await lab.startHand();
}
