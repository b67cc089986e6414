import { expect } from "bun:test";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { asJsonText, jsonValue } from "../../src/cni/json-text.ts";
import { withPrevResult } from "../../src/cni/plugin-stdin.ts";
import { loadIndex } from "../../src/state/journal/container-index.ts";
import { loadJournal } from "../../src/state/journal/journal-load.ts";
import { indexPath, journalPath } from "../../src/state/journal/journal-open.ts";
import type { Lab, PluginCall } from "../lab/lab.ts";
import { ip } from "../lab/lab.ts";
import { leftovers } from "../lab/leftovers.ts";

export interface LeftOptions {
  /** Bridges whose ports must be gone. */
  readonly bridges?: readonly string[];
  /** Network namespaces that are still there and must be empty. */
  readonly netns?: readonly string[];
  /** What may be there: the evidence of damage that the test itself did. */
  readonly apartFrom?: RegExp;
}

/** The invariant of every crash: once the runtime has deleted what it added, nothing is left, anywhere. */
export async function expectNothingLeft(lab: Lab, options: LeftOptions = {}): Promise<void> {
  await lab
    .until("nothing is left", async () => ((await found(lab, options)).length === 0 ? true : undefined), 6_000)
    .catch(() => undefined);
  expect(await found(lab, options)).toEqual([]);
}

async function found(lab: Lab, options: LeftOptions): Promise<readonly string[]> {
  const all = [
    ...(await leftovers(lab)),
    ...(await onDisk(lab)),
    ...(await pluginProcesses(lab)).map((process) => `process ${process}`),
    ...unbalanced(await lab.calls()),
    ...(options.bridges ?? []).flatMap(portsOf),
    ...(options.netns ?? []).flatMap(interfacesIn),
  ];
  const { apartFrom } = options;
  return apartFrom === undefined ? all : all.filter((line) => !apartFrom.test(line));
}

/** The journal as the next daemon would read it, and half-written files. */
async function onDisk(lab: Lab): Promise<readonly string[]> {
  const { state, damaged } = await loadJournal(journalPath(lab.stateDir));
  const { ids } = await loadIndex(indexPath(lab.stateDir));
  const files = await readdir(lab.stateDir, { recursive: true });
  return [
    ...[...state.records()].map((record) => `journal line of ${record.containerId} (${record.phase})`),
    ...state.leaks.all().map((leak) => `journal line of a leak of ${leak.containerId}`),
    ...damaged.map((part) => `damage at byte ${part.offset} of the journal: ${part.reason}`),
    ...[...ids].map((id) => `index entry of ${id}`),
    ...files.filter((name) => name.endsWith(".tmp")).map((name) => `half-written ${name}`),
  ];
}

/** Everything that runs with the lab's plugin folder in its environment: shims, plugins, their children. */
export async function pluginProcesses(lab: Lab): Promise<readonly string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => describe(pid, `CNI_PATH=${lab.path("bin")}`)));
  return lines.filter((line) => line !== undefined);
}

async function describe(pid: string, mark: string): Promise<string | undefined> {
  try {
    const environment = await readFile(join("/proc", pid, "environ"), "latin1");
    if (!environment.includes(mark)) return undefined;
    const command = await readFile(join("/proc", pid, "cmdline"), "latin1");
    return `${pid} ${command.replaceAll("\0", " ").trim()}`;
  } catch {
    return undefined; // ended while we looked
  }
}

/** Every ADD that a plugin began is followed by a DEL of the same plugin with the same bytes, `prevResult` apart. */
function unbalanced(calls: readonly PluginCall[]): readonly string[] {
  return calls.flatMap((call, index) => {
    if (call.command !== "ADD") return [];
    const later = calls.slice(index + 1).filter((other) => other.command === "DEL" && isSamePlace(other, call));
    if (later.length === 0) return [`ADD of ${call.plugin} for ${call.containerId}/${call.ifname} without a DEL`];
    const bytes = withoutResult(call);
    return later.some((other) => withoutResult(other) !== bytes)
      ? [`DEL of ${call.plugin} for ${call.containerId}/${call.ifname} with other bytes than its ADD`]
      : [];
  });
}

function isSamePlace(left: PluginCall, right: PluginCall): boolean {
  return left.plugin === right.plugin && left.containerId === right.containerId && left.ifname === right.ifname;
}

function withoutResult(call: PluginCall): string {
  return withPrevResult(asJsonText(Buffer.from(call.stdin), "a plugin's stdin"), jsonValue(null));
}

function portsOf(bridge: string): readonly string[] {
  const links = ip(["-o", "link", "show"])
    .split("\n")
    .filter((line) => line.includes(` master ${bridge} `));
  return links.map((line) => `port of ${bridge}: ${line.split(":")[1]?.trim() ?? line}`);
}

function interfacesIn(path: string): readonly string[] {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const links = ip(["-n", name, "-o", "link", "show"])
    .split("\n")
    .filter((line) => line !== "");
  return links.filter((line) => !/^\d+: lo:/.test(line)).map((line) => `interface in ${name}: ${line}`);
}
