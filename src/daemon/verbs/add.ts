import { keepTrying } from "../../admission/keep-trying.ts";
import { LeveeError } from "../../base/errors.ts";
import { sameNetns } from "../../base/identity.ts";
import { planAttachments } from "../../attachment/plan.ts";
import type { Chain } from "../../cni/chain.ts";
import { podArgs } from "../../cni/cni-args.ts";
import type { AddRequest } from "../../cni/verb.ts";
import { closingMs } from "../../config/budgets.ts";
import { effectiveNetConf, type NetConf } from "../../config/net-conf.ts";
import type { AttachmentRecord } from "../../state/attachment-record.ts";
import { admissionOfAdd } from "../admission-request.ts";
import { noteAsked } from "../note-asked.ts";
import { attach } from "../attach.ts";
import type { Call } from "../call.ts";
import { ChainReports } from "../chain-reports.ts";
import { withDevices } from "../devices.ts";
import { deleteUnknown } from "../delete-unknown.ts";
import { lookAgain, lookUp, resolve } from "../look-up.ts";
import type { PodRequest } from "../networks.ts";
import { PodAccount } from "../pod-account.ts";
import type { Ports } from "../ports.ts";
import { readinessGate } from "../readiness-file.ts";
import { undoRecord } from "../retire.ts";
import { recordedPod, subjectOfCall } from "../subject.ts";
import type { Holder } from "../turns.ts";
import type { Answer } from "./answer.ts";

/** Attaches every network the pod asks for, in order, or none of them. */
export async function add(call: Call, request: AddRequest, ports: Ports): Promise<Answer> {
  using held = new DisposableStack();
  const account = await PodAccount.open(podArgs(request.args), request, ports);
  await account.refuseHeld();
  const holder = { verb: "ADD", cancel: (reason: Error) => call.cancel(reason) };
  await settleFirst(call, request, holder, ports);
  held.use(await ports.turns.take(request.containerId, holder, call.signal));
  refuseMissingNetns(call, request);
  await clearEarlier(call, request, ports);
  const ready = readinessGate(call.signal, ports);
  const looked = account.watch(lookUp(call, request, held, ports));
  const [found] = await Promise.all([looked, ready(ports.config.readinessindicatorfile)]);

  const asked = noteAsked(call, admissionOfAdd(request, found, account), ports);
  const { admission, clock, config } = ports;
  const leftMs = (): number => call.remainingMs() - config.addUndoMs - closingMs;
  const answer = await keepTrying(asked, { admission, clock, signal: call.signal, leftMs }, (permit) =>
    attempt(call, request, { found, reports: new ChainReports(permit, account), ready }, ports),
  );
  return { ...answer, held: held.move() };
}

interface Attempt {
  readonly found: PodRequest;
  readonly reports: ChainReports;
  readonly ready: ReturnType<typeof readinessGate>;
}

/** One try, undone to its end before it fails; a permit is held for as long. */
async function attempt(call: Call, request: AddRequest, trial: Attempt, ports: Ports): Promise<Answer> {
  const subject = subjectOfCall(request);
  const record = await trial.reports.watch(prepare(call, request, trial, ports));
  // Durable before the first side effect: a crash after this line is finished or undone from the journal.
  await ports.journal.begin(record);
  ports.timeline.note(subject, "planned", {
    detail: record.chains.map((chain) => `${chain.network} as ${chain.ifname}`).join(", "),
  });
  return await attach(call, record, ports, trial.reports);
}

async function prepare(call: Call, request: AddRequest, trial: Attempt, ports: Ports): Promise<AttachmentRecord> {
  const [text] = await Promise.all([call.config(), refuseHostNetns(call, request)]);
  const conf = effectiveNetConf(text, ports.config);
  ports.wants.seen(conf);
  await trial.ready(conf.readinessindicatorfile);
  const wanted = await lookAgain(call, request, { wanted: trial.found, config: text }, ports);
  trial.reports.asksFor(wanted.definitions.keys());
  return plan(call, request, wanted, { conf, ports });
}

/** A DEL that comes while the ADD still waits for others must find it, or it would succeed before the ADD does. */
async function settleFirst(call: Call, request: AddRequest, holder: Holder, ports: Ports): Promise<void> {
  using _announced = ports.turns.announce(request.containerId, holder);
  await ports.recovery.settleBefore(call, request.args);
  call.signal.throwIfAborted();
}

function refuseMissingNetns(call: Call, request: AddRequest): void {
  if (call.header.netnsIdentity !== undefined) return;
  throw new LeveeError("env-invalid", `Cannot attach as CNI_NETNS cannot be opened: current value is ${request.netns}`);
}

/** Plugins would rename the host's own interfaces. */
async function refuseHostNetns(call: Call, request: AddRequest): Promise<void> {
  const [own] = await call.hand.stat(["/proc/self/ns/net"]);
  if (sameNetns(own, call.header.netnsIdentity)) {
    throw new LeveeError(
      "env-invalid",
      `Cannot attach as CNI_NETNS is the network namespace of the host: current value is ${request.netns}`,
    );
  }
}

/**
 * What is left of an earlier ADD for the same container and interface goes first, and so does a DEL of it that was
 * made while the daemon was away: carried out later it would hit this attachment. A living one is an error.
 */
async function clearEarlier(call: Call, request: AddRequest, ports: Ports): Promise<void> {
  const { containerId, ifname } = request;
  const earlier = ports.journal.find({ containerId, ifname });
  const isUnwanted = ports.offline.hasDelete(containerId, ifname);
  if (earlier === undefined) {
    const now = { path: request.netns, identity: call.header.netnsIdentity };
    if (isUnwanted) await deleteUnknown(call.hand, { ...request, now, config: () => call.config() }, ports);
    return;
  }
  // What Multus attached has no identity on record, so the caller's word is taken.
  const isHere = earlier.netns.identity === undefined || (await isInNetnsOf(call, earlier, ports));
  const isSettled = earlier.phase === "acknowledged" && earlier.delAttempts === 0 && !isUnwanted;
  if (isSettled && isHere) {
    throw new LeveeError(
      "interface-taken",
      `Cannot attach ${request.containerId} as ${request.ifname} is attached already in ${request.netns}; delete it first`,
    );
  }
  if (!isSettled) await ports.recovery.proveGone(call.hand, earlier);
  const now = isHere ? { path: request.netns, identity: call.header.netnsIdentity } : { path: "", identity: undefined };
  await undoRecord(earlier, { hand: call.hand, now }, ports);
}

/**
 * Whether a record's namespace is the call's. The kernel gives the numbers of dead namespaces to new ones, so the
 * record's own path must still lead there.
 */
async function isInNetnsOf(call: Call, record: AttachmentRecord, ports: Ports): Promise<boolean> {
  const { netns, netnsIdentity } = call.header;
  if (record.bootId !== ports.bootId || !sameNetns(record.netns.identity, netnsIdentity)) return false;
  if (record.netns.path === netns) return true;
  const [now] = await call.hand.stat([record.netns.path]);
  return sameNetns(now, netnsIdentity);
}

async function plan(
  call: Call,
  request: AddRequest,
  wanted: PodRequest,
  options: { conf: NetConf; ports: Ports },
): Promise<AttachmentRecord> {
  const { conf, ports } = options;
  const networks = await withDevices(await resolve(call, wanted, conf, ports), wanted.pod, {
    kubeletDir: ports.config.kubeletDir,
    clock: ports.clock,
    limitMs: ports.config.addLookupMs,
    signal: call.signal,
  });
  const { runtimeConfig } = conf;
  const chains = planAttachments({ request, ...networks, runtimeConfig, deviceInfoDir: ports.config.deviceInfoDir });
  await refuseTaken(call, request, chains, ports);
  return {
    token: call.token,
    containerId: request.containerId,
    ifname: request.ifname,
    netns: { path: request.netns, identity: call.header.netnsIdentity },
    bootId: ports.bootId,
    pod: recordedPod(request.args, wanted.pod),
    cniPath: pathWithBinDir(request.cniPath, conf.binDir),
    // The daemon's own setting must not change the version the runtime reads.
    cniVersion: conf.callVersion,
    hand: call.hand.identity,
    startedWallMs: ports.clock.wallMs(),
    chains,
    phase: "intent",
    steps: new Map(),
    results: [],
    failure: undefined,
    delAttempts: 0,
    origin: "levee",
  };
}

/** An interface of another container in the same namespace would be removed by the undo of the ADD that it makes fail. */
async function refuseTaken(call: Call, request: AddRequest, chains: readonly Chain[], ports: Ports): Promise<void> {
  const { netnsIdentity } = call.header;
  if (netnsIdentity === undefined) return;
  const ifnames = new Set(chains.map((chain) => chain.ifname));
  for (const other of ports.journal.inNetns(netnsIdentity)) {
    const taken = other.chains.find((chain) => ifnames.has(chain.ifname));
    if (taken === undefined || !(await isInNetnsOf(call, other, ports))) continue;
    throw new LeveeError(
      "interface-taken",
      `Cannot attach ${request.containerId}: ${taken.ifname} in ${request.netns} belongs to container ${other.containerId}; delete that first`,
    );
  }
}

/** The runtime's CNI_PATH first, then the configured folder. */
function pathWithBinDir(cniPath: string, binDir: string): string {
  const folders = cniPath.split(":").filter((folder) => folder !== "");
  return (folders.includes(binDir) || binDir === "" ? folders : [...folders, binDir]).join(":");
}
