import { existsSync } from "node:fs";
import type { JsonText } from "../../base/brand.ts";
import type { Clock } from "../../base/clock.ts";
import { parseResult } from "../../cni/result.ts";
import { isListening } from "./ask.ts";
import { confFacts } from "./conf-facts.ts";
import type { Context } from "../context.ts";
import { CommandFailure, interruptedFailure, toFailure, usageFailure } from "../failure.ts";
import { interfacesOf, type InterfaceFacts } from "./interfaces.ts";
import { netnsName, networkText, podText, type NetworkChoice, type PodKey } from "./names.ts";
import { addNetns, netnsPath, removeNetns } from "./netns.ts";
import {
  makePodFolder,
  podFilePath,
  readPodFile,
  removePodFile,
  removePodFolder,
  writePodFile,
  type NewPod,
} from "./pod-file.ts";
import { withProgress } from "../terminal/progress.ts";
import { isDaemonAway } from "../remedies.ts";
import { CniFailure, callShim } from "./shim-call.ts";

export interface AttachRequest {
  readonly pod: PodKey;
  readonly defaultNetwork: NetworkChoice;
  readonly additional: readonly NetworkChoice[];
  /** The configuration handed to the shim. */
  readonly conf: string;
}

/** The shim waits so long for a daemon that is away. */
const reachMs = 47_000;

/** The attached pod with its interfaces. */
export interface Attached extends PodKey {
  readonly containerId: string;
  readonly netns: string;
  readonly interfaces: readonly AttachedInterface[];
}

interface AttachedInterface extends InterfaceFacts {
  readonly network: string;
}

/** Plays the container runtime for one pod: network namespace, pod file, ADD. If one part fails, it removes the others. */
export async function attachPod(context: Context, request: AttachRequest): Promise<Attached> {
  await refuseExisting(context, request.pod);
  const pod = newPod(request, context.shell.clock);
  // Only one caller can create this name, so of two attaches at once the second fails here, with nothing to undo.
  await addNetns(context.shell, pod.netns);
  let isAddTried = false;
  let isDaemonThere = false;
  let folderMade: string | undefined;
  try {
    folderMade = await makePodFolder(context.settings.directory);
    await writePodFile(context.settings.directory, pod);
    if (context.shell.interrupted.aborted) throw interruptedFailure(`attaching ${podText(pod)}`);
    isDaemonThere = await noteAbsence(context, request.conf);
    isAddTried = true;
    const result = await withProgress(context.shell, `Attaching ${podText(pod)}`, () =>
      callShim(context.shell, context.settings, {
        verb: "ADD",
        pod,
        conf: request.conf,
        signal: context.shell.interrupted,
      }),
    );
    return await describe(context, pod, result);
  } catch (cause) {
    throw await undoAttach(context, request, { pod, isAddTried, isDaemonThere, folderMade, cause });
  }
}

/** The default network (eth0) is `chosen`, else the first one. The others are additional networks. */
export function splitNetworks(
  networks: readonly NetworkChoice[],
  chosen: NetworkChoice | undefined,
): Pick<AttachRequest, "defaultNetwork" | "additional"> {
  const at =
    chosen === undefined
      ? 0
      : networks.findIndex(({ namespace, name }) => namespace === chosen.namespace && name === chosen.name);
  const defaultNetwork = chosen ?? networks[0];
  if (defaultNetwork === undefined) throw usageFailure("Cannot attach without a network", "--networks lan,dmz");
  const asked = defaultNetwork.ifname ?? networks[at]?.ifname;
  if (asked !== undefined && asked !== "eth0") {
    throw usageFailure(
      `Cannot name the default network's interface ${JSON.stringify(asked)}: it is always eth0`,
      `${defaultNetwork.name} without @${asked}`,
    );
  }
  return {
    defaultNetwork: { ...defaultNetwork, ifname: undefined },
    additional: networks.filter((_, index) => index !== at),
  };
}

async function refuseExisting({ settings }: Context, pod: PodKey): Promise<void> {
  const file = podFilePath(settings.directory, pod);
  // Never overwrite a pod file that levee attach did not write; detach would not remove it either.
  if (existsSync(file) && (await readPodFile(settings.directory, pod)) === undefined) {
    throw new CommandFailure(
      "interface-taken",
      `Cannot attach ${podText(pod)}: levee attach did not write its pod file`,
      { remedy: `remove ${file} or use another name` },
    );
  }
  const found = [file, netnsPath(netnsName(pod))].find((path) => existsSync(path));
  if (found === undefined) return;
  throw new CommandFailure(
    "interface-taken",
    `Cannot attach ${podText(pod)} because it is attached already: found ${found}`,
    {
      remedy: `levee detach ${podText(pod)}, or another name`,
    },
  );
}

/** Returns whether a daemon listens. If not, tells the person at once that the shim waits for it. */
async function noteAbsence({ shell, settings }: Context, conf: string): Promise<boolean> {
  const { socket, addBudgetMs } = confFacts(conf, settings);
  if (await isListening(socket)) return true;
  // Without a shim the call fails at once, and nothing waits.
  if (!existsSync(settings.shim)) return false;
  shell.stderr.write(
    `Note: no daemon listens on ${socket} yet; waiting up to ${Math.ceil(Math.min(addBudgetMs, reachMs) / 1000)} s\n`,
  );
  return false;
}

function newPod(request: AttachRequest, clock: Clock): NewPod {
  const { pod, defaultNetwork, additional } = request;
  const containerId = Buffer.from(clock.randomBytes(32)).toString("hex");
  return { ...pod, uid: uuid(clock.randomBytes(16)), containerId, netns: netnsName(pod), defaultNetwork, additional };
}

/** A version 4 UUID, the form of a pod's UID. */
function uuid(random: Uint8Array): string {
  const bytes = Buffer.from(random);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

async function describe(context: Context, pod: NewPod, result: string): Promise<Attached> {
  const networks = networkByInterface(pod);
  const facts = await interfacesOf(context.shell, pod.netns);
  const interfaces = facts.map((link) => ({
    ...link,
    network: networks.get(link.ifname) ?? "",
    // The result names the default network's gateway even if no route uses it.
    gateways: link.ifname === "eth0" ? [...new Set([...link.gateways, ...resultGateways(result)])] : link.gateways,
  }));
  return {
    namespace: pod.namespace,
    name: pod.name,
    containerId: pod.containerId,
    netns: netnsPath(pod.netns),
    interfaces,
  };
}

/** The gateways in a CNI result of any version. An unreadable result has none. */
export function resultGateways(result: string): readonly string[] {
  try {
    const { ips } = parseResult(result as JsonText, "1.0.0");
    return [...new Set(ips.flatMap(({ gateway }) => gateway ?? []))];
  } catch {
    return []; // Only for display: the exit status has already shown whether ADD succeeded.
  }
}

/** Interface names by the rule of the multi-net specification: eth0, then net1, net2, … by position. */
export function networkByInterface(pod: Pick<NewPod, "defaultNetwork" | "additional">): ReadonlyMap<string, string> {
  const rest = pod.additional.map((choice, at): [string, string] => [
    choice.ifname ?? `net${at + 1}`,
    networkText({ ...choice, ifname: undefined }),
  ]);
  return new Map([["eth0", networkText(pod.defaultNetwork)], ...rest]);
}

interface FailedAttach {
  readonly pod: NewPod;
  readonly isAddTried: boolean;
  /** Whether a daemon listened before the ADD. */
  readonly isDaemonThere: boolean;
  /** The topmost folder that was made for the pod file. */
  readonly folderMade: string | undefined;
  readonly cause: unknown;
}

/** Undoes the attach and returns the error to show: the first one, plus what could not be removed. */
async function undoAttach(context: Context, request: AttachRequest, failed: FailedAttach): Promise<CommandFailure> {
  const { shell, settings } = context;
  const { pod, folderMade } = failed;
  const left: string[] = [];
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    await work().catch((error: unknown) => left.push(toFailure(error).message));
  };
  const first = toFailure(failed.cause);
  if (await needsDelete(context, request.conf, failed))
    await attempt(() => callShim(shell, settings, { verb: "DEL", pod, conf: request.conf }));
  await attempt(() => removePodFile(settings.directory, pod));
  if (folderMade !== undefined) await attempt(() => removePodFolder(settings.directory, folderMade));
  await attempt(() => removeNetns(shell, pod.netns));
  if (left.length === 0) return first;
  return new CommandFailure(first.code, `${first.message}. The cleanup failed too: ${left.join("; ")}`, {
    remedy: `levee detach ${podText(pod)}`,
    exitCode: first.exitCode,
    cause: first,
  });
}

/**
 * A runtime sends DEL after a failed ADD, and that DEL waits for the undo of an interrupted ADD. A DEL for an ADD that no
 * daemon saw would only leave a record on disk. A daemon that came and went meanwhile undoes by itself what was never
 * acknowledged.
 */
async function needsDelete({ settings }: Context, conf: string, failed: FailedAttach): Promise<boolean> {
  const { cause } = failed;
  if (!failed.isAddTried || toFailure(cause).code === "shim-missing") return false;
  if (cause instanceof CniFailure) return !isDaemonAway(cause.error);
  return failed.isDaemonThere || (await isListening(confFacts(conf, settings).socket));
}
