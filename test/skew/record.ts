/**
 * Records the sessions of the current protocol version: `bun test/skew/record.ts` (as root, after `npm run build`).
 * Run it once per version, when that version is released; it refuses to write over a folder that is there (`v1/`, `v2/`, …),
 * because that is what the older programs out there really say. Nothing in it is normalised: paths, process IDs and
 * times are those of the day.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AttachmentsAnswer } from "../../src/wire/node-view.ts";
import { software } from "../../src/base/version.ts";
import { protocolVersion } from "../../src/wire/frame.ts";
import { Lab, type CniCall } from "../lab/lab.ts";
import { RecordingProxy } from "./recording-proxy.ts";
import {
  brokenContainer,
  furnish,
  lostContainer,
  netnsPath,
  resumeContainer,
  Scene,
  sceneFolder,
  scenePath,
  slowContainer,
  webContainer,
} from "./scene.ts";
import { recordLooks } from "./record-looks.ts";
import { recordingFolder, type Transcript } from "./transcript.ts";

const programs = join(import.meta.dir, "../../dist");

await using _scene = await Scene.hold();
await using lab = await Lab.make();
await furnish(lab);
await lab.startDaemon();
const proxy = await RecordingProxy.listen(lab.path("proxy"), lab.socketDir);
const folder = recordingFolder(protocolVersion);
// Fails when it is there.
await mkdir(folder);
// The calls share a namespace, and a shim tells which interfaces are there.
for (const plugin of ["first", "second"])
  await script(`${plugin}.DEL`, 'nsenter --net="$CNI_NETNS" ip link delete "$CNI_IFNAME" || true');
try {
  await recordAddAndDel();
  await recordFailingAdd();
  await recordSlowAdd();
  await recordResume();
  await recordResident();
  await recordQuestions();
  await write("look", await recordLooks(lab.path("looks")));
} finally {
  proxy.close();
}

async function recordAddAndDel(): Promise<void> {
  const call = callOf(webContainer, "web");
  const added = await lab.cni("ADD", call);
  if (added.exitCode !== 0) throw new Error(`The ADD to record failed: ${added.stdout}`);
  await save("add-two-networks", "ADD of a pod on two networks, three plugins and a default route");
  // A plugin's CHECK gets the result of the whole chain; the second ADD's answer serves.
  await lab.cni("CHECK", { ...call, conf: conf({ prevResult: JSON.parse(added.stdout) as unknown }) });
  await save("check", "CHECK of that pod");
  await lab.cni("STATUS", { ...call, containerId: "" });
  await save("status", "STATUS");
  await lab.cni("DEL", call);
  await save("del", "DEL of that pod");
}

async function recordFailingAdd(): Promise<void> {
  const failed = await lab.cni("ADD", callOf(brokenContainer, "broken"));
  if (failed.exitCode !== 1) throw new Error("The ADD to record succeeded");
  await save("failing-add", "ADD whose last network fails, undone by the same shim");
}

async function recordSlowAdd(): Promise<void> {
  await script("first.ADD", "sleep 2.6");
  const added = await lab.cni("ADD", callOf(slowContainer, "plain"));
  if (added.exitCode !== 0) throw new Error(`The slow ADD to record failed: ${added.stdout}`);
  await unscript("first.ADD");
  await save("slow-add", "ADD whose plugin sleeps for 2.6 s, and what is told of it meanwhile");
  await lab.cni("DEL", callOf(slowContainer, "plain"));
  await forget();
}

async function recordResume(): Promise<void> {
  await script("first.ADD", "sleep 1");
  const { outcome } = lab.start("ADD", callOf(resumeContainer, "plain"));
  await untilCalled("ADD", resumeContainer);
  await lab.killDaemon();
  await lab.startDaemon();
  if ((await outcome).exitCode !== 0) throw new Error("The resumed ADD to record failed");
  await unscript("first.ADD");
  await save("resume", "ADD whose daemon is killed while the plugin runs; the shim comes back with RESUME");
  await lab.cni("DEL", callOf(resumeContainer, "plain"));
  await forget();
}

async function recordResident(): Promise<void> {
  const env = { PATH: process.env["PATH"] ?? "" };
  const hand = spawn(join(programs, "levee-shim"), ["--resident", "--socket-dir", proxy.folder], {
    env,
    stdio: "ignore",
  });
  await lab.until("the hand is there", async () => {
    const { residentHands } = await lab.ask<{ residentHands: readonly unknown[] }>({ ask: "node" });
    return residentHands.length > 0 || undefined;
  });
  await script("first.ADD", "sleep 30");
  const lost = lab.start("ADD", callOf(lostContainer, "plain"));
  await untilCalled("ADD", lostContainer);
  lost.process.kill("SIGKILL");
  await lost.outcome;
  await unscript("first.ADD");
  await lab.until("the lost ADD is undone", async () => {
    const { attachments } = await lab.ask<AttachmentsAnswer>({ ask: "attachments" });
    return attachments.length === 0 || undefined;
  });
  await save("resident", "an ADD whose shim is killed (connection 1), undone by the resident hand (connection 0)");
  hand.kill("SIGTERM");
  await new Promise((resolve) => hand.once("exit", resolve));
  await forget();
}

async function recordQuestions(): Promise<void> {
  await lab.cni("ADD", { ...callOf(webContainer, "plain"), conf: lab.shimConf() });
  for (const args of [
    ["version", "-o", "json"],
    ["ls", "-o", "json"],
    ["why", "plain", "-o", "json"],
    ["leaks", "-o", "json"],
  ]) {
    // Not spawnSync: this very process is the proxy that has to answer.
    const child = spawn(join(programs, "levee"), ["--socket-dir", proxy.folder, "--state-dir", lab.stateDir, ...args], {
      stdio: "ignore",
    });
    await new Promise((resolve) => child.once("exit", resolve));
  }
  await save("ask", "what the CLI asks: version, ls, why, leaks");
  await lab.cni("DEL", { ...callOf(webContainer, "plain"), conf: lab.shimConf() });
}

function callOf(containerId: string, pod: string): CniCall {
  return { containerId, netns: netnsPath, args: lab.podArgs(pod), path: scenePath, conf: conf() };
}

function conf(more: Readonly<Record<string, unknown>> = {}): string {
  return lab.shimConf({ daemonSocketDir: proxy.folder, ...more });
}

/** The last frames may still be on their way through the proxy. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 200));
}

async function forget(): Promise<void> {
  await settled();
  proxy.take("", "");
}

async function save(name: string, about: string): Promise<void> {
  await settled();
  await write(name, proxy.take(about, software));
}

async function write(name: string, { events, ...head }: Transcript): Promise<void> {
  const lines = events.map((event) => `    ${JSON.stringify(event)}`).join(",\n");
  const text = `${JSON.stringify(head, undefined, 2).slice(0, -2)},\n  "events": [\n${lines}\n  ]\n}\n`;
  await writeFile(join(folder, `${name}.json`), text);
  console.log(`${name}: ${events.length} events`);
}

async function script(key: string, lines: string): Promise<void> {
  await writeFile(join(sceneFolder, "control/scripts", key), lines);
}

async function unscript(key: string): Promise<void> {
  await rm(join(sceneFolder, "control/scripts", key), { force: true });
}

function untilCalled(verb: string, containerId: string): Promise<true> {
  return lab.until(`a plugin does ${verb} for ${containerId}`, () => {
    const listed = spawnSync("ls", [join(sceneFolder, "control/calls")], { encoding: "utf8" }).stdout;
    return Promise.resolve(listed.includes(`-${verb}-${containerId}-`) || undefined);
  });
}
