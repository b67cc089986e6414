import { join } from "node:path";
import { ip, Lab } from "../../test/lab/lab.ts";
import { rowOf, round, type Cell, type Row, type Verdict } from "../cell.ts";

const pods = 60;
const pluginFolder = "/usr/lib/cni";
const shim = join(import.meta.dir, "../../dist/levee-shim");
const networks = [
  { name: "lan", bridge: "leveebench0", subnet: "10.213.0.0/16", ifname: "eth0" },
  { name: "dmz", bridge: "leveebench1", subnet: "10.214.0.0/16", ifname: "net1" },
] as const;

/**
 * Pods one after another on two real networks: the same delegates run directly and through Levee, in turn, each pod in
 * a namespace of its own. The difference is what Levee adds.
 */
export async function sequential(): Promise<Cell> {
  const lab = await Lab.make();
  try {
    for (const network of networks) await lab.network(network.name, confOf(network, lab));
    await lab.pod("bench", { "k8s.v1.cni.cncf.io/networks": "dmz" });
    await lab.configure({ clusterNetwork: "lan", multusNamespace: "default", logLevel: "error" });
    await lab.startDaemon();
    const times = measure(lab);
    const rows = [
      rowOf("ADD: the two delegates directly", times.addDirect),
      rowOf("ADD: through Levee", times.addLevee),
      rowOf("DEL: the two delegates directly", times.delDirect),
      rowOf("DEL: through Levee", times.delLevee),
    ];
    const verdicts = verdictsOf(rows);
    const command = "npm run bench -- sequential";
    return {
      name: "sequential",
      title: `${pods} pods one after another, two networks each`,
      command,
      unit: "ms",
      rows,
      verdicts,
      notes: [],
    };
  } finally {
    await lab.remove();
    for (const { bridge } of networks) ip(["link", "delete", bridge]);
  }
}

interface Times {
  readonly addDirect: number[];
  readonly addLevee: number[];
  readonly delDirect: number[];
  readonly delLevee: number[];
}

function measure(lab: Lab): Times {
  const times: Times = { addDirect: [], addLevee: [], delDirect: [], delLevee: [] };
  // The first pods make the bridges and warm the page cache for both ways alike; they do not count.
  for (let pod = -3; pod < pods; pod += 1) {
    const directNetns = lab.netns(`direct${pod}`);
    const leveeNetns = lab.netns(`levee${pod}`);
    const addDirect = direct("ADD", `direct${pod}`, directNetns, lab);
    const addLevee = levee("ADD", `levee${pod}`, leveeNetns, lab);
    const delDirect = direct("DEL", `direct${pod}`, directNetns, lab);
    const delLevee = levee("DEL", `levee${pod}`, leveeNetns, lab);
    lab.deleteNetns(directNetns);
    lab.deleteNetns(leveeNetns);
    if (pod < 0) continue;
    times.addDirect.push(addDirect);
    times.addLevee.push(addLevee);
    times.delDirect.push(delDirect);
    times.delLevee.push(delLevee);
  }
  return times;
}

/** What a runtime without a meta-plugin would do: each delegate in turn, DEL in reverse. */
function direct(command: string, containerId: string, netns: string, lab: Lab): number {
  const order = command === "DEL" ? networks.toReversed() : networks;
  return order
    .map((network) =>
      timed(
        join(pluginFolder, "bridge"),
        { ...cniEnv(command, containerId, netns), CNI_IFNAME: network.ifname },
        JSON.stringify(confOf(network, lab)),
      ),
    )
    .reduce((sum, ms) => sum + ms, 0);
}

function levee(command: string, containerId: string, netns: string, lab: Lab): number {
  return timed(
    shim,
    { ...cniEnv(command, containerId, netns), CNI_IFNAME: "eth0", CNI_ARGS: lab.podArgs("bench") },
    lab.shimConf(),
  );
}

function timed(program: string, env: Readonly<Record<string, string>>, stdin: string): number {
  const startedMs = performance.now();
  const done = Bun.spawnSync([program], { env, stdin: Buffer.from(stdin), stdout: "pipe", stderr: "pipe" });
  const tookMs = performance.now() - startedMs;
  if (done.exitCode !== 0) throw new Error(`${program} failed: ${done.stdout.toString()} ${done.stderr.toString()}`);
  return tookMs;
}

function cniEnv(command: string, containerId: string, netns: string): Record<string, string> {
  return {
    CNI_COMMAND: command,
    CNI_CONTAINERID: containerId,
    CNI_NETNS: netns,
    CNI_PATH: pluginFolder,
    PATH: process.env["PATH"] ?? "",
  };
}

function confOf(network: (typeof networks)[number], lab: Lab): Record<string, unknown> {
  const ipam = { type: "host-local", dataDir: lab.path("ipam"), ranges: [[{ subnet: network.subnet }]] };
  return { cniVersion: "1.0.0", name: network.name, type: "bridge", bridge: network.bridge, ipam };
}

function verdictsOf([addDirect, addLevee, delDirect, delLevee]: readonly Row[]): readonly Verdict[] {
  if (addDirect === undefined || addLevee === undefined || delDirect === undefined || delLevee === undefined) return [];
  const addedByAdd = round(addLevee.median - addDirect.median);
  const addedByDel = round(delLevee.median - delDirect.median);
  return [
    { promise: "at most 10 ms added per ADD", seen: `${addedByAdd} ms`, holds: addedByAdd <= 10 },
    {
      promise: "DEL adds no more than ADD",
      seen: `${addedByDel} ms against ${addedByAdd} ms`,
      holds: addedByDel <= addedByAdd,
    },
  ];
}
