import type { Admission } from "../../admission/admission.ts";
import { keepTrying, type Attempts } from "../../admission/keep-trying.ts";
import type { Permit } from "../../admission/permit.ts";
import type { Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { sameNetns } from "../../base/identity.ts";
import { planAttachments } from "../../attachment/plan.ts";
import type { Chain } from "../../cni/chain.ts";
import { podArgs } from "../../cni/cni-args.ts";
import type { AddRequest } from "../../cni/verb.ts";
import { closingMs } from "../../config/budgets.ts";
import { effectiveNetConf, type NetConf } from "../../config/net-conf.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import { admissionOfAdd } from "./admission-request.ts";
import { noteAsked } from "./note-asked.ts";
import { attach } from "./run-chains.ts";
import type { Call } from "../serve/call.ts";
import { ChainReports } from "../chains/chain-reports.ts";
import { withDevices } from "../look-up/devices.ts";
import { deleteUnknown } from "../undo/delete-unknown.ts";
import { Holdings } from "../serve/holdings.ts";
import { lookAgain, lookUp, resolve } from "../look-up/look-up.ts";
import type { PodRequest } from "../look-up/networks.ts";
import { PodAccount } from "./pod-account.ts";
import type { Ports } from "../ports.ts";
import { awaitReadinessFile } from "./readiness-file.ts";
import { undoRecord } from "../undo/undo.ts";
import { recordedPod, subjectOfCall } from "../record/subject.ts";
import type { Reply } from "../serve/reply.ts";

/** Attaches every network the pod asks for, in order, or none of them. */
export async function add(call: Call, request: AddRequest, ports: Ports): Promise<Reply> {
  using held = new Holdings();
  const account = await PodAccount.open(podArgs(request.args), request, ports);
  await account.refuseHeld();
  await settleFirst(call, request, ports);
  held.use(await ports.turns.take(request.containerId, call, call.givenUp));
  refuseMissingNetns(call, request);
  await clearEarlier(call, request, ports);
  const readyByMs = ports.clock.monotonicMs() + ports.config.addLookupMs;
  const [found] = await Promise.all([
    account.watch(lookUp(call, request, held, ports)),
    awaitReadinessFile({ path: ports.config.readinessindicatorfile, endsMs: readyByMs, caller: call }, ports.clock),
  ]);
  const asked = noteAsked(call, admissionOfAdd(request, found, account), ports);
  // In here and not in keepTrying: thousands may wait at this line, and each function on the way to it costs memory.
  const permit = await ports.admission.admit(asked, call.givenUp);
  const attempts = new AddAttempts(call, request, { found, account, readyByMs }, ports);
  const answer = await keepTrying(permit, attempts);
  return { ...answer, held: held.move() };
}

interface Found {
  readonly found: PodRequest;
  readonly account: PodAccount;
  /** When the default network must be ready at last. */
  readonly readyByMs: number;
}

/** The part of an ADD that needs a slot. */
class AddAttempts implements Attempts<Reply> {
  readonly #call: Call;
  readonly #request: AddRequest;
  readonly #facts: Found;
  readonly #ports: Ports;

  constructor(call: Call, request: AddRequest, facts: Found, ports: Ports) {
    this.#call = call;
    this.#request = request;
    this.#facts = facts;
    this.#ports = ports;
  }

  get admission(): Admission {
    return this.#ports.admission;
  }

  get clock(): Clock {
    return this.#ports.clock;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  leftMs(): number {
    return this.#call.remainingMs() - this.#ports.config.addUndoMs - closingMs;
  }

  async attempt(permit: Permit): Promise<Reply> {
    const reports = new ChainReports(permit, this.#facts.account);
    const record = await reports.watch(this.#prepare(reports));
    // Durable before the first side effect: a crash after this line is finished or undone from the journal.
    await this.#ports.journal.begin(record);
    this.#ports.timeline.note(subjectOfCall(this.#request), "planned", {
      detail: record.chains.map((chain) => `${chain.network} as ${chain.ifname}`).join(", "),
    });
    return await attach(this.#call, record, this.#ports, reports);
  }

  async #prepare(reports: ChainReports): Promise<AttachmentRecord> {
    const [call, request, ports] = [this.#call, this.#request, this.#ports];
    const [text] = await Promise.all([call.config(), refuseHostNetns(call, request)]);
    const conf = effectiveNetConf(text, ports.config);
    ports.wants.seen(conf);
    const { found, readyByMs } = this.#facts;
    const ready = { path: conf.readinessindicatorfile, endsMs: readyByMs, caller: call };
    await awaitReadinessFile(ready, ports.clock);
    const wanted = await lookAgain(call, request, { wanted: found, config: text }, ports);
    reports.asksFor(wanted.definitions.keys());
    return plan(call, request, wanted, { conf, ports });
  }
}

/** A DEL that comes while the ADD still waits for others must find it, or it would succeed before the ADD does. */
async function settleFirst(call: Call, request: AddRequest, ports: Ports): Promise<void> {
  using _announced = ports.turns.announce(request.containerId, call);
  await ports.recovery.settleBefore(call, request.args);
  call.givenUp.throwIfAborted();
}

function refuseMissingNetns(call: Call, request: AddRequest): void {
  if (call.header.netnsIdentity !== undefined) return;
  throw new LeveeError("env-invalid", `Cannot attach as CNI_NETNS cannot be opened: current value is ${request.netns}`);
}

/** Plugins would rename the host's own interfaces. */
async function refuseHostNetns(call: Call, request: AddRequest): Promise<void> {
  const own = call.header.ownNetns ?? (await call.hand.stat(["/proc/self/ns/net"]))[0];
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
    // Made for the few that have devices.
    get signal() {
      return call.signal;
    },
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
  const path = (folders.includes(binDir) || binDir === "" ? folders : [...folders, binDir]).join(":");
  // Nearly always as given, and then the text that all calls have in common.
  return path === cniPath ? cniPath : path;
}
