import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { journalPath } from "../../src/state/journal/journal-open.ts";
import { KubeNode } from "../conformance/kube-node.ts";
import { attachments, expectSuccess, isDead } from "../crash/crash-node.ts";

// Real processes on a machine that may be busy with other tests.
setDefaultTimeout(60_000);

const networksKey = "k8s.v1.cni.cncf.io/networks";
const statusKey = "k8s.v1.cni.cncf.io/network-status";

/** A node with a running pod `vm`, on a server that keeps what is written. */
async function startPod(networks: string): Promise<KubeNode> {
  const node = await KubeNode.start((api) => {
    api.keepsPatches = true;
    api.pod("vm", { [networksKey]: networks });
  });
  await node.lab.answer("second.ADD", '{"cniVersion":"1.0.0","interfaces":[{"name":"net1","sandbox":"/x"}]}');
  await node.lab.startHand();
  await node.synced();
  expectSuccess((await node.add("vm", { uid: "uid-of-vm" })).outcome);
  await untilStatus(node, networks === "[]" ? [] : ["default/net-a net1"]);
  return node;
}

async function annotate({ api }: KubeNode, networks: string): Promise<void> {
  const body = JSON.stringify({ metadata: { annotations: { [networksKey]: networks } } });
  const url = `${api.url}/api/v1/namespaces/default/pods/vm`;
  expect((await fetch(url, { method: "PATCH", body })).status).toBe(200);
}

/** The networks of each network-status that was written: `default/net-a net1`. */
function statuses({ api }: KubeNode): readonly (readonly string[])[] {
  return api.patches.flatMap(({ body }) => {
    const text = (body["metadata"] as { annotations?: Record<string, string> }).annotations?.[statusKey];
    if (text === undefined) return [];
    const entries = JSON.parse(text) as readonly { name: string; interface?: string; default?: boolean }[];
    return [entries.filter((entry) => entry.default !== true).map((entry) => `${entry.name} ${entry.interface ?? ""}`)];
  });
}

async function untilStatus(node: KubeNode, wanted: readonly string[]): Promise<void> {
  const isWanted = (): boolean => Bun.deepEquals(statuses(node).at(-1), wanted);
  await node.lab.until(`network-status is ${wanted.join()}`, () => Promise.resolve(isWanted() || undefined));
}

function kinds({ lab }: KubeNode): readonly string[] {
  const lines = readFileSync(journalPath(lab.stateDir), "utf8").split("\n");
  return lines.flatMap((line) => /"kind":"(plug[^"]*)"/.exec(line)?.[1] ?? []);
}

test("network-status is written after the end of the change is in the journal", async () => {
  const node = await startPod("[]");
  await using lab = node.lab;
  await using api = node.api;
  const before = statuses(node).length;
  const seen: (string | undefined)[] = [];
  api.mood = ({ method, body }) => {
    if (method === "PATCH" && body.includes(statusKey)) seen.push(kinds(node).at(-1));
    return undefined;
  };
  await annotate(node, "net-a");
  await untilStatus(node, ["default/net-a net1"]);
  await annotate(node, "[]");
  await untilStatus(node, []);
  expect(statuses(node).slice(before)).toEqual([["default/net-a net1"], []]);
  expect(seen).toEqual(["plug-ended", "plug-ended"]);
  expect(kinds(node)).toEqual(["plug", "plug-step", "plug-ended", "plug", "plug-ended"]);
  expect(await lab.calls()).toHaveLength(3);
});

/** `writes` ends with the last entry of the change: the daemon is killed before it can tell. */
const changes = [
  { name: "a plug", from: "[]", to: "net-a", writes: 3, after: ["default/net-a net1"] },
  { name: "an unplug", from: "net-a", to: "[]", writes: 2, after: [] },
  { name: "an unplug beside a network that is missing", from: "net-a", to: "missing@net9", writes: 2, after: [] },
] as const;

test.each(changes)(
  "the daemon is killed after the last entry of $name: the next one writes the status",
  async (change) => {
    const node = await startPod(change.from);
    await using lab = node.lab;
    await using _api = node.api;
    await lab.killDaemon("SIGTERM");
    const before = statuses(node).length;
    const daemon = await lab.startDaemon({ LEVEE_FAULT: `journal-write:${change.writes}` });
    await node.synced();
    await annotate(node, change.to);
    await lab.until("the daemon is killed", () => Promise.resolve(isDead(daemon) || undefined));
    expect(kinds(node).at(-1)).toBe("plug-ended");
    expect(statuses(node).slice(before)).toEqual([]);
    await lab.startDaemon();
    await untilStatus(node, change.after);
    expect((await attachments(lab)).map(({ phase }) => phase)).toEqual(["attached"]);
  },
);

test("the daemon is killed in the middle of a plug: no status tells of the network before it is there again", async () => {
  const node = await startPod("[]");
  await using lab = node.lab;
  await using _api = node.api;
  await lab.killDaemon("SIGTERM");
  const before = statuses(node).length;
  const daemon = await lab.startDaemon({ LEVEE_FAULT: "journal-write:2" });
  await node.synced();
  await annotate(node, "net-a");
  await lab.until("the daemon is killed", () => Promise.resolve(isDead(daemon) || undefined));
  await annotate(node, "[]");
  await lab.startDaemon();
  await lab.until("the change is taken back", () => Promise.resolve(kinds(node).at(-1) === "plug-ended" || undefined));
  await annotate(node, "net-a");
  await untilStatus(node, ["default/net-a net1"]);
  expect(statuses(node).slice(before, -1).flat()).toEqual([]);
});
