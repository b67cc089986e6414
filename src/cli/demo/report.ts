import type { Attached } from "../node/attach-pod.ts";
import { interfaceTable } from "../node/interface-table.ts";
import { netnsName, podText } from "../node/names.ts";
import type { Paint } from "../terminal/paint.ts";
import { processMemoryText, type Memory } from "./memory.ts";
import type { Reach } from "./reach.ts";
import type { Site } from "./site.ts";

export interface DemoFacts {
  readonly attached: Attached;
  readonly tookMs: number;
  readonly reaches: readonly Reach[];
  readonly memory: { readonly daemon: Memory | undefined; readonly hand: Memory | undefined };
}

/** The pod's interfaces and the proof that they work. */
export function gotText(facts: DemoFacts, paint: Paint): string {
  const proofs = facts.reaches.map(
    ({ from, to, isReached, how }) =>
      `  ${isReached ? paint("green", "ok  ") : paint("red", "FAIL")}  ${from} to ${to}: ${how}\n`,
  );
  return [
    `${paint("bold", `${podText(facts.attached)} is on ${facts.attached.interfaces.length} networks`)} after ${Math.round(facts.tookMs)} ms, network namespace ${facts.attached.netns}\n\n`,
    interfaceTable(facts.attached),
    "\nPackets between the pod and its gateways:\n",
    ...proofs,
    `\nMemory: daemon ${processMemoryText(facts.memory.daemon)}, resident hand ${processMemoryText(facts.memory.hand)}\n`,
  ].join("");
}

/** Exact commands to copy into another terminal. */
export function howToGoOn(
  site: Site,
  { levee, console: page }: { readonly levee: string; readonly console?: string | undefined },
  paint: Paint,
): string {
  const networks = site.networks.map(({ name }) => name);
  const web = { namespace: site.pod.namespace, name: "web" };
  return [
    page === undefined ? "" : `\n${paint("bold", "Watch it in a browser:")} ${page}\n`,
    `\n${paint("bold", "What to try next, in another terminal as root:")}\n`,
    `  export LEVEE_SOCKET_DIR=${site.runDir} LEVEE_STATE_DIR=${site.stateDir}\n`,
    `  ${levee} ls -o wide\n`,
    `  ${levee} why ${site.pod.name}\n`,
    `  ${levee} attach ${web.name} --networks ${networks.toReversed().join(",")}\n`,
    `  ip netns exec ${netnsName(web)} ip addr\n`,
    `  ${levee} detach ${web.name}\n`,
    `  ${levee} storm --console\n`,
    `\nNetworks are files in ${site.stateDir}/directory/networks; the daemon's log is ${site.stateDir}/daemon.log.\n`,
    "Ctrl-C ends the demo and removes everything it made.\n",
  ].join("");
}
