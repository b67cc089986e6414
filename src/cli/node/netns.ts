import { existsSync } from "node:fs";
import { join } from "node:path";
import { runTool } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import { isSuccess, type ProgramEnd } from "../run-program.ts";
import type { Shell } from "../shell.ts";

type Tools = Pick<Shell, "clock" | "env" | "isRoot">;

export const netnsFolder = "/var/run/netns";

export function netnsPath(name: string): string {
  return join(netnsFolder, name);
}

export function netnsExists(name: string): boolean {
  return existsSync(netnsPath(name));
}

/** Makes the namespace with `lo` up. Only one caller can create a name, so this is also the lock. */
export async function addNetns(tools: Tools, name: string): Promise<void> {
  requireToolSuccess(tools, await ip(tools, ["netns", "add", name]), `Cannot make the network namespace ${name}`);
  const up = await ip(tools, ["-n", name, "link", "set", "lo", "up"]);
  if (isSuccess(up)) return;
  await removeNetns(tools, name);
  requireToolSuccess(tools, up, `Cannot bring up lo in the network namespace ${name}`);
}

/** Returns whether there was one. */
export async function removeNetns(tools: Tools, name: string): Promise<boolean> {
  if (!netnsExists(name)) return false;
  const end = await ip(tools, ["netns", "del", name]);
  // Another process may have removed it meanwhile, which is fine.
  if (netnsExists(name)) requireToolSuccess(tools, end, `Cannot remove the network namespace ${name}`);
  return true;
}

export function ip(tools: Pick<Tools, "clock" | "env">, args: readonly string[]): Promise<ProgramEnd> {
  return runTool(tools, "ip", args);
}

/** Throws a failure with a remedy if the tool did not succeed. */
export function requireToolSuccess(tools: Pick<Tools, "isRoot">, end: ProgramEnd, doing: string): void {
  if (isSuccess(end)) return;
  if (end.startError === "ENOENT") {
    throw new CommandFailure("tool-missing", `${doing}: the program ip is not installed`, {
      remedy: "apt-get install iproute2",
    });
  }
  const reason = end.startError ?? (end.stderr.trim() || `it ended with ${end.signal ?? end.exitCode ?? "no status"}`);
  throw new CommandFailure(
    "tool-failed",
    `${doing}: ${reason}`,
    tools.isRoot ? {} : { remedy: "run the command as root" },
  );
}
