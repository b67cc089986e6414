import { expect } from "bun:test";
import type { ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { journalPath } from "../../src/state/journal/journal-open.ts";
import { readLines } from "../../src/state/files/checked-line.ts";
import type { Lab } from "../lab/lab.ts";
import { annotate, makePlugNode, networksOfPod, runPod, untilNetworks } from "../plug/plug-node.ts";
import { attachments, isDead, pause, type PodCall } from "./crash-node.ts";
import { expectNothingLeft } from "./nothing-left.ts";

export interface PlugChange {
  readonly name: string;
  /** What the annotation becomes. The pod has `second` as net1 before. */
  readonly networks: string;
  /** What the pod has in the end. */
  readonly after: readonly string[];
  /** The plugin that fails its ADD, if one does. */
  readonly failing?: string;
}

export const plugChanges = {
  plug: { name: "plug", networks: "second,third", after: ["second net1", "third net2"] },
  plugTwo: { name: "plug of two plugins", networks: "second,pair", after: ["second net1", "pair net2"] },
  unplug: { name: "unplug", networks: "[]", after: [] },
  swap: { name: "swap", networks: '[{"name":"third","interface":"net1"}]', after: ["third net1"] },
  swapTwo: { name: "swap of two plugins", networks: '[{"name":"pair","interface":"net1"}]', after: ["pair net1"] },
} as const satisfies Record<string, PlugChange>;

/** The node of the kill matrix. Each plugin's result bears its name, so that a DEL with another one's is seen. */
export async function makeChangeNode(settings: Readonly<Record<string, unknown>> = {}): Promise<Lab> {
  const lab = await makePlugNode(settings);
  for (const plugin of ["gamma", "delta", "epsilon"])
    await lab.answer(`${plugin}.ADD`, `{"cniVersion":"1.0.0","dns":{"domain":"${plugin}"}}`);
  return lab;
}

/** The kinds of all entries in the journal. */
export async function journalKinds(lab: Lab): Promise<readonly string[]> {
  const lines = [...readLines(await readFile(journalPath(lab.stateDir)), "L")];
  return lines.flatMap((line) => (line.kind === "line" ? [(JSON.parse(line.body) as { kind: string }).kind] : []));
}

export async function failPlugin(lab: Lab, plugin: string): Promise<void> {
  await lab.script(`${plugin}.ADD`, 'echo \'{"code":77,"msg":"no luck"}\'; exit 1');
}

/** What a change writes to the journal from its beginning to its end, by running it. */
export async function entriesOf({ name, networks, failing }: PlugChange): Promise<readonly string[]> {
  await using lab = await makeChangeNode();
  await runPod(lab);
  const before = (await journalKinds(lab)).length;
  if (failing !== undefined) await failPlugin(lab, failing);
  await annotate(lab, networks);
  return await lab.until(`${name} ends`, async () => {
    const kinds = (await journalKinds(lab)).slice(before);
    const endsAt = kinds.indexOf("plug-ended");
    return endsAt < 0 ? undefined : kinds.slice(0, endsAt + 1);
  });
}

export async function untilDead(lab: Lab, daemon: ChildProcess): Promise<void> {
  await lab.until("the daemon is killed", () => Promise.resolve(isDead(daemon) || undefined));
}

/** The networks are as wanted, and stay so. They may be so before the next daemon has begun, and not while it works. */
export async function untilSettled(lab: Lab, networks: readonly string[]): Promise<void> {
  const isWanted = async (): Promise<boolean> => {
    const phases = (await attachments(lab)).map(({ phase }) => phase);
    return Bun.deepEquals(phases, ["attached"]) && Bun.deepEquals(await networksOfPod(lab), networks);
  };
  await untilNetworks(lab, networks);
  await lab.until(`the pod keeps ${networks.join(", ")}`, async () => {
    for (let look = 0; look < 5; look += 1) {
      if (!(await isWanted())) return undefined;
      await pause(100);
    }
    return true;
  });
}

export async function endPod(lab: Lab, call: PodCall): Promise<void> {
  // While the hand of a change is alive and not connected, a DEL is answered "try later", and the runtime comes again.
  await lab.until("the DEL succeeds", async () => ((await lab.cni("DEL", call)).exitCode === 0 ? true : undefined));
  await expectNothingLeft(lab, { netns: [call.netns], apartFrom: /without a DEL/ });
  expect(await openAdds(lab)).toEqual([]);
  expect(await wrongResults(lab)).toEqual([]);
  expect(await primaryCalls(lab)).toEqual([]);
}

/** The pod's own ADD was forgotten, so only the calls since then are compared. */
async function openAdds(lab: Lab): Promise<readonly string[]> {
  const open: string[] = [];
  for (const { command, plugin, ifname } of await lab.calls()) {
    const place = `${plugin} ${ifname}`;
    if (command === "ADD") open.push(place);
    if (command === "DEL") for (let at = open.indexOf(place); at >= 0; at = open.indexOf(place)) open.splice(at, 1);
  }
  return open;
}

/** A plugin's DEL gets a result of its own network, or none. */
async function wrongResults(lab: Lab): Promise<readonly string[]> {
  const own: Readonly<Record<string, readonly string[]>> = {
    gamma: ["gamma"],
    delta: ["delta", "epsilon"],
    epsilon: ["delta", "epsilon"],
  };
  return (await lab.calls()).flatMap(({ command, plugin, stdin }) => {
    const { prevResult } = JSON.parse(stdin) as { prevResult?: { dns?: { domain?: string } } };
    const domain = prevResult?.dns?.domain;
    const isWrong = command === "DEL" && domain !== undefined && own[plugin]?.includes(domain) !== true;
    return isWrong ? [`DEL ${plugin} with the result of ${domain}`] : [];
  });
}

/** The primary network never changes: its plugins run only for the pod's own DEL, which comes last. */
async function primaryCalls(lab: Lab): Promise<readonly string[]> {
  const all = (await lab.calls()).map(({ command, plugin }) => `${command} ${plugin}`);
  const firstAt = all.indexOf("DEL beta");
  return all.filter((call, at) => / (alpha|beta)$/.test(call) && (call.startsWith("ADD") || at < firstAt));
}
