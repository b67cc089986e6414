import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { NetnsPath, PluginType } from "../../src/base/brand.ts";
import { software } from "../../src/base/version.ts";
import { encodeList, encodeRun } from "../../src/wire/messages.ts";
import { encodeLinks } from "../../src/wire/netns-links.ts";
import { ScriptedDaemon } from "../shim/scripted-daemon.ts";
import { RecordingProxy } from "./recording-proxy.ts";
import { netnsPath, sceneFolder, scenePath } from "./scene.ts";
import type { Transcript } from "./transcript.ts";

/** The resident hand's answers to the orders that came with version 2, each given once. */
export async function recordLooks(folder: string): Promise<Transcript> {
  await mkdir(folder, { mode: 0o700 });
  await mkdir(join(folder, "daemon"), { mode: 0o700 });
  const daemon = await ScriptedDaemon.listen(join(folder, "daemon"));
  const proxy = await RecordingProxy.listen(join(folder, "proxy"), join(folder, "daemon"));
  const program = join(import.meta.dir, "../../dist/levee-shim");
  const hand = spawn(program, ["--resident", "--socket-dir", proxy.folder], {
    env: { PATH: process.env["PATH"] ?? "" },
    stdio: "ignore",
  });
  try {
    const peer = await daemon.accept();
    await peer.expect("RESIDENT");
    peer.welcome();
    for (const [index, order] of orders.entries()) {
      peer.send(order(index + 1));
      await peer.expect("OUTCOME");
    }
    return proxy.take("what the resident hand sees: interfaces, folders, and a run in a scratch namespace", software);
  } finally {
    hand.kill("SIGKILL");
    proxy.close();
    await daemon.kill();
  }
}

const env = {
  CNI_COMMAND: "ADD",
  CNI_CONTAINERID: "skew-canary",
  CNI_NETNS: "",
  CNI_IFNAME: "lo",
  CNI_PATH: scenePath,
};
const canary = {
  plugin: "third" as PluginType,
  env,
  stdin: `{"controlDir":"${sceneFolder}/control"}`,
  timeoutMs: 5_000,
};

const orders: readonly ((step: number) => Uint8Array)[] = [
  (step) => encodeLinks(step, netnsPath as NetnsPath),
  (step) => encodeLinks(step, `${netnsPath}-none` as NetnsPath),
  (step) => encodeList(step, scenePath),
  (step) => encodeList(step, join(sceneFolder, "none")),
  (step) => encodeRun(step, { ...canary, scratchNetns: true }),
];
