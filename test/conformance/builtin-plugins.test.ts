// Built-in plugins stand in for missing programs and for upstream's, never for a site's own, and people see which one served.
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmod, copyFile, readdir, readFile, writeFile } from "node:fs/promises";
import type { TimelineAnswer, TimelineEntry } from "../../src/wire/node-view.ts";
import { distributionPlugins, ip, Lab, type CniOutcome } from "../lab/lab.ts";
import { levee } from "../lab/levee.ts";
import { addresses, ipamFolder, leftovers } from "../lab/leftovers.ts";

setDefaultTimeout(60_000);

const bridges: string[] = [];
afterEach(() => {
  for (const bridge of bridges.splice(0)) spawnSync("ip", ["link", "delete", bridge]);
});

/** A pod on one bridge, or a chain that begins with it, with host-local. The call's CNI_PATH is the lab's folder alone, which has no programs yet. */
async function startNode(
  settings: Readonly<Record<string, unknown>> = {},
  conf: object = {},
  chained?: (lab: Lab) => readonly object[],
): Promise<Lab> {
  const lab = await Lab.make();
  const bridge = `lvb${lab.id}`;
  bridges.push(bridge);
  const ipam = { type: "host-local", dataDir: ipamFolder(lab), ranges: [[{ subnet: "10.94.0.0/24" }]] };
  const [names, link] = [
    { cniVersion: "1.0.0", name: "lan" },
    { type: "bridge", bridge, isGateway: true, ipam, ...conf },
  ];
  const network = chained === undefined ? { ...names, ...link } : { ...names, plugins: [link, ...chained(lab)] };
  await lab.network("lan", network, "kube-system");
  await lab.pod("web", {});
  await lab.configure({ clusterNetwork: "lan", undoRetryMs: 100, ...settings });
  await lab.startDaemon();
  return lab;
}

async function withPrograms(lab: Lab): Promise<Lab> {
  for (const name of ["bridge", "host-local"]) await copyFile(`${distributionPlugins}/${name}`, lab.path("bin", name));
  return lab;
}

const namespaces = new Map<string, string>();

function cni(lab: Lab, verb: string, id: string): Promise<CniOutcome> {
  const key = `${lab.id} ${id}`;
  const netns = namespaces.get(key) ?? lab.netns(id);
  namespaces.set(key, netns);
  return lab.cni(verb, { containerId: id, netns, args: lab.podArgs("web"), path: lab.path("bin") });
}

/** A program that a site has put into the folder under the name of an upstream one. */
async function ownBridge(lab: Lab): Promise<void> {
  const result = '{"cniVersion":"1.0.0","ips":[{"address":"10.94.0.7/24"}]}';
  await writeFile(lab.path("bin/bridge"), `#!/bin/sh\ncat >/dev/null\necho '${result}'\n`);
  await chmod(lab.path("bin/bridge"), 0o755);
}

/** Which one served each run, in order: `ADD built in 1.9.1`, `DEL program`. */
async function served(lab: Lab, withNames = false): Promise<readonly string[]> {
  const { entries } = await lab.ask<TimelineAnswer>({ ask: "timeline", namespace: "default", name: "web" });
  const how = ({ builtIn, notBuiltIn }: TimelineEntry): string =>
    builtIn === undefined ? `program${notBuiltIn === undefined ? "" : `: ${notBuiltIn}`}` : `built in ${builtIn}`;
  return entries
    .filter(({ what }) => what === "ran")
    .map((entry) => [entry.verb, ...(withNames ? [entry.plugin] : []), how(entry)].join(" "));
}

test("where the node has no programs, pods are attached and detached by built-in plugins, and the commands say so", async () => {
  await using lab = await startNode();
  expect(await cni(lab, "ADD", "c1")).toMatchObject({ exitCode: 0 });
  expect(await addresses(lab)).toHaveLength(1);
  expect(await cni(lab, "CHECK", "c1")).toMatchObject({ exitCode: 0 });
  expect((await levee(lab, "why", "web")).out).toContain("bridge (built in)");
  expect((await levee(lab, "check", "node")).out).toContain(
    "plugins: built in, as no program is there: bridge, host-local, static",
  );
  expect((await levee(lab, "why", "web", "-o", "wide")).out).toContain("bridge (built in, as 1.9.1)");
  expect(await cni(lab, "DEL", "c1")).toMatchObject({ exitCode: 0 });
  expect(await served(lab)).toEqual(["ADD built in 1.9.1", "CHECK built in 1.9.1", "DEL built in 1.9.1"]);
  expect(await leftovers(lab)).toEqual([]);
});

test("upstream's programs are replaced once they are known, and what one made the other deletes", async () => {
  await using lab = await withPrograms(await startNode());
  for (const id of ["c1", "c2"]) expect(await cni(lab, "ADD", id)).toMatchObject({ exitCode: 0 });
  const known = await served(lab);
  // The first order meets bridge, and the one after it host-local; a distribution's rebuild is not known at all.
  const isKnown = (await levee(lab, "check", "node")).out.includes("instead of upstream's programs: bridge 1.1.1");
  for (const id of ["c3", "c4"]) expect(await cni(lab, "ADD", id)).toMatchObject({ exitCode: 0 });
  for (const id of ["c1", "c2", "c3", "c4"]) expect(await cni(lab, "DEL", id)).toMatchObject({ exitCode: 0 });
  expect(known[0]).toBe("ADD program");
  if (isKnown)
    expect((await served(lab)).slice(-6)).toEqual(
      [..."ab"].map(() => "ADD built in 1.1.1").concat([..."abcd"].map(() => "DEL built in 1.1.1")),
    );
  expect(await leftovers(lab)).toEqual([]);
});

test("a site's own program is never replaced", async () => {
  await using lab = await startNode();
  await ownBridge(lab);
  for (const id of ["c1", "c2"]) expect(await cni(lab, "ADD", id)).toMatchObject({ exitCode: 0 });
  expect(await served(lab)).toEqual(["ADD program", "ADD program"]);
  expect((await levee(lab, "check", "node")).out).toContain(
    "as programs, because they are not known upstream ones: bridge",
  );
});

test("with a list, the named built-ins stand in whatever program is there; with off, none does", async () => {
  for (const [builtinPlugins, how] of [
    [["bridge", "host-local"], "ADD built in 1.9.1"],
    [["bridge"], "ADD program: its IPAM plugin host-local is a program, or another version"],
    ["off", "ADD program"],
  ] as const) {
    await using lab = await withPrograms(await startNode({ builtinPlugins }));
    expect(await cni(lab, "ADD", "c1")).toMatchObject({ exitCode: 0 });
    expect(await served(lab)).toEqual([how]);
    expect(await cni(lab, "DEL", "c1")).toMatchObject({ exitCode: 0 });
    expect(await leftovers(lab)).toEqual([]);
  }
});

test("a configuration that no built-in knows goes to the program, and is an error that names both where there is none", async () => {
  await using lab = await startNode({}, { ipMasq: true });
  const refused = await cni(lab, "ADD", "c1");
  expect(refused.exitCode).toBe(1);
  expect(refused.stdout).toContain("Cannot find an executable plugin");
  expect(refused.stdout).toContain("the built-in plugin does not serve it: ");
  expect(await addresses(lab)).toEqual([]);
  await ownBridge(lab);
  expect(await cni(lab, "ADD", "c2")).toMatchObject({ exitCode: 0 });
  expect((await levee(lab, "why", "web")).out).toContain("bridge (program: ipMasq is not built in)");
});

/** Writes down what it gets, and hands the result on with a DNS domain of its own. */
async function middleProgram(lab: Lab): Promise<void> {
  const script = `#!/bin/sh
conf=$(cat)
printf '%s' "$conf" > "${lab.folder}/middle.$CNI_COMMAND"
[ "$CNI_COMMAND" = ADD ] || exit 0
printf '%s' "$conf" | sed 's/.*"prevResult":{/{"dns":{"domain":"middle"},/; s/}$//'
`;
  await writeFile(lab.path("bin/middle"), script);
  await chmod(lab.path("bin/middle"), 0o755);
}

test("in one chain a program takes over from a built-in plugin, and another built-in from the program", async () => {
  const tuning = (lab: Lab): object => ({ type: "tuning", mtu: 1300, promisc: true, dataDir: lab.path("tuning") });
  await using lab = await startNode({}, {}, (of) => [{ type: "middle" }, tuning(of)]);
  await middleProgram(lab);
  const gotten = async (verb: string): Promise<unknown> =>
    (JSON.parse(await readFile(lab.path(`middle.${verb}`), "utf8")) as { readonly prevResult?: unknown }).prevResult;
  const added = await cni(lab, "ADD", "c1");
  expect(added).toMatchObject({ exitCode: 0 });
  // What the bridge gave reached the program, and what the program added reached the runtime through tuning.
  const [held] = await addresses(lab);
  const ips = [{ address: `${held?.split("/")[1] ?? ""}/24`, gateway: "10.94.0.1" }];
  expect(await gotten("ADD")).toMatchObject({ ips });
  // The daemon answers in its own version; the chain has the network's.
  const result = { ...(JSON.parse(added.stdout) as object), cniVersion: "1.0.0" };
  expect(result).toMatchObject({ ips, dns: { domain: "middle" } });
  const netns = namespaces.get(`${lab.id} c1`)?.split("/").at(-1) ?? "";
  expect(ip(["-n", netns, "link", "show", "eth0"])).toMatch(/PROMISC.* mtu 1300 /u);
  expect(await cni(lab, "CHECK", "c1")).toMatchObject({ exitCode: 0 });
  expect(await gotten("CHECK")).toEqual(result);
  expect(await cni(lab, "DEL", "c1")).toMatchObject({ exitCode: 0 });
  expect(await gotten("DEL")).toEqual(result);
  const forward = ["bridge built in 1.9.1", "middle program", "tuning built in 1.9.1"];
  expect(await served(lab, true)).toEqual([
    ...forward.map((each) => `ADD ${each}`),
    ...forward.map((each) => `CHECK ${each}`),
    ...forward.toReversed().map((each) => `DEL ${each}`),
  ]);
  const why = (await levee(lab, "why", "web")).out.matchAll(/ eth0 {2}(\S+(?: \(built in\))?) {2}took /gu);
  const told = ["bridge (built in)", "middle", "tuning (built in)"];
  expect([...why].map(([, who]) => who)).toEqual([...told, ...told, ...told.toReversed()]);
  expect([await leftovers(lab), await readdir(lab.path("tuning"))]).toEqual([[], []]);
});
