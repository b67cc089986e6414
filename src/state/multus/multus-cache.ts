import { disk } from "../../base/disk/disk.ts";
import { join } from "node:path";
import type { ContainerId, IfName, Namespace, PodName, PodUid } from "../../base/brand.ts";
import { errnoOf, LeveeError } from "../../base/errors.ts";
import { sha256Hex } from "../../base/sha256.ts";
import { argOf, parseCniArgs } from "../../cni/cni-args.ts";
import type { AttachmentRecord, RecordedPod } from "../journal/attachment-record.ts";
import { delegateToAttachment, resultToAttachment, type MultusAttachment } from "./multus-chain.ts";
import { readResults, type MultusResult } from "./multus-result-file.ts";

/** The content of Multus' cache folder. */
export interface ImportReport {
  readonly records: readonly AttachmentRecord[];
  /** Files that could not be used. They stay in place. */
  readonly problems: readonly ImportProblem[];
}

interface ImportProblem {
  readonly file: string;
  /** The container of the file, if known. Levee then lacks a part of that container's record. */
  readonly containerId?: ContainerId;
  readonly reason: string;
}

/** Reads everything that Multus has attached on this node. Bad content becomes a problem and never throws. */
export async function importMultusCache(cniDir: string): Promise<ImportReport> {
  const { results, problems: badResults } = await readResults(cniDir);
  const byContainer = Map.groupBy(results, (result) => result.containerId);
  const records: AttachmentRecord[] = [];
  const problems: ImportProblem[] = [...badResults];
  for (const containerId of await scratchNames(cniDir)) {
    const found = await readContainer(cniDir, containerId, byContainer.get(containerId) ?? []);
    byContainer.delete(containerId);
    if (found.record !== undefined) records.push(found.record);
    problems.push(...found.problems);
  }
  for (const [containerId] of byContainer) {
    // Multus removes the scratch file even when the DEL failed, so this is a leak of Multus.
    problems.push({ file: join(cniDir, containerId), containerId, reason: "there are results but no scratch file" });
  }
  return { records, problems };
}

/** Whether a scratch file of Multus, or Levee's mirror of one, shows that this container was attached. */
export async function hasMultusFile(cniDir: string, containerId: ContainerId): Promise<boolean> {
  if (!containerPattern.test(containerId)) return false;
  // An unreadable file counts as missing, because a DEL of an unknown container must not fail.
  const found = await disk.stat(join(cniDir, containerId)).catch(() => undefined);
  return found?.isFile() === true;
}

/** The record of one container from Multus' cache, for a DEL whose record was lost. */
export async function readMultusRecord(
  cniDir: string,
  containerId: ContainerId,
): Promise<AttachmentRecord | undefined> {
  if (!containerPattern.test(containerId)) return undefined;
  const { results } = await readResults(cniDir, containerId);
  return (await readContainer(cniDir, containerId, results)).record;
}

const containerPattern = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,253}$/;
/** As for the results: more files are years of leftovers. */
const filesMax = 20_000;
const tokenHexChars = 32;

async function scratchNames(cniDir: string): Promise<readonly ContainerId[]> {
  const entries = await disk.entries(cniDir).catch((cause: unknown) => {
    if (errnoOf(cause) === "ENOENT") return [];
    throw cause;
  });
  const names = entries
    .filter((entry) => entry.isFile() && containerPattern.test(entry.name))
    .map((entry) => entry.name as ContainerId);
  return names.toSorted().slice(0, filesMax);
}

interface Found {
  readonly record: AttachmentRecord | undefined;
  readonly problems: readonly ImportProblem[];
}

async function readContainer(
  cniDir: string,
  containerId: ContainerId,
  results: readonly MultusResult[],
): Promise<Found> {
  const file = join(cniDir, containerId);
  const scratch = await readScratch(file);
  const { attachments, reasons } = Array.isArray(scratch.delegates)
    ? fromDelegates(scratch.delegates, containerId, results)
    : fromResults(results, scratch.reason);
  const problems = reasons.map((reason) => ({ file, containerId, reason }));
  if (attachments.length === 0) return { record: undefined, problems };
  const netns = results.find((result) => result.netns !== "")?.netns ?? "";
  return { record: await recordOf(containerId, attachments, { netns, startedWallMs: scratch.mtimeMs }), problems };
}

interface Scratch {
  readonly delegates: readonly unknown[] | undefined;
  readonly reason: string;
  readonly mtimeMs: number;
}

async function readScratch(file: string): Promise<Scratch> {
  try {
    const { mtimeMs } = await disk.stat(file);
    const parsed = parseScratch((await disk.readFile(file)).toString("utf8"));
    return typeof parsed === "string"
      ? { delegates: undefined, reason: parsed, mtimeMs }
      : { delegates: parsed, reason: "", mtimeMs };
  } catch (cause) {
    return { delegates: undefined, reason: (cause as Error).message, mtimeMs: 0 };
  }
}

/** The list, or the file's problem. Multus leaves empty files after a crash, and `null` without delegates. */
function parseScratch(text: string): readonly unknown[] | string {
  if (text.trim() === "") return "it is empty";
  try {
    const parsed = JSON.parse(text) as unknown;
    if (!Array.isArray(parsed)) return `it must be a list: current value is ${text.slice(0, 40)}`;
    return parsed.length === 0 ? "its list is empty" : (parsed as readonly unknown[]);
  } catch (cause) {
    return `it is not JSON: ${(cause as Error).message}`;
  }
}

interface Collected {
  readonly attachments: readonly MultusAttachment[];
  readonly reasons: readonly string[];
}

function fromDelegates(
  delegates: readonly unknown[],
  containerId: ContainerId,
  results: readonly MultusResult[],
): Collected {
  const cniArgs = results.find((result) => result.cniArgs !== undefined)?.cniArgs ?? defaultArgs(containerId);
  const attachments: MultusAttachment[] = [];
  const reasons: string[] = [];
  let unused = results;
  delegates.forEach((delegate, position) => {
    try {
      const { chain, result, used } = delegateToAttachment(delegate, {
        containerId,
        position,
        results: unused,
        cniArgs: plainArgs(cniArgs),
      });
      unused = unused.filter((candidate) => candidate !== used);
      attachments.push({ chain, result });
    } catch (cause) {
      reasons.push(reasonOf(cause));
    }
  });
  // What Multus' /delegate plugged into the running pod is in the results alone. A broken element has a result, too.
  const plugged = reasons.length === 0 ? unused : [];
  for (const result of plugged) {
    try {
      attachments.push(resultToAttachment(result, false, { ifname: result.ifname }));
    } catch (cause) {
      reasons.push(reasonOf(cause));
    }
  }
  return { attachments, reasons };
}

/** For a container without a usable scratch file. The pod's own interface comes first, as in Multus. */
function fromResults(results: readonly MultusResult[], reason: string): Collected {
  const ordered = results.toSorted((left, right) => rank(left) - rank(right) || (left.ifname < right.ifname ? -1 : 1));
  const attachments: MultusAttachment[] = [];
  const reasons = [reason];
  ordered.forEach((result, position) => {
    try {
      attachments.push(resultToAttachment(result, position === 0));
    } catch (cause) {
      reasons.push(reasonOf(cause));
    }
  });
  return { attachments, reasons };
}

function rank(result: MultusResult): number {
  return result.ifname === "eth0" ? 0 : 1;
}

function defaultArgs(containerId: ContainerId): string {
  return `IgnoreUnknown=true;K8S_POD_INFRA_CONTAINER_ID=${containerId}`;
}

/** Another network's arguments without the requests for that network alone. */
function plainArgs(cniArgs: string): string {
  return cniArgs
    .split(";")
    .filter((pair) => !/^(MAC|IP)=/.test(pair))
    .join(";");
}

async function recordOf(
  containerId: ContainerId,
  attachments: readonly MultusAttachment[],
  facts: { netns: string; startedWallMs: number },
): Promise<AttachmentRecord> {
  const [first] = attachments;
  const ifname = first?.chain.ifname ?? ("eth0" as IfName);
  return {
    token: (await sha256Hex(`multus/${containerId}/${ifname}`)).slice(0, tokenHexChars),
    containerId,
    ifname,
    netns: { path: facts.netns, identity: undefined },
    bootId: "",
    pod: podOf(attachments),
    cniPath: "",
    cniVersion: first?.chain.cniVersion ?? "",
    hand: undefined,
    startedWallMs: facts.startedWallMs,
    chains: attachments.map(({ chain }) => chain),
    phase: "acknowledged",
    steps: new Map(),
    results: attachments.map(({ result }) => result),
    failure: undefined,
    delAttempts: 0,
    origin: "multus",
  };
}

function podOf(attachments: readonly MultusAttachment[]): RecordedPod {
  const args = { pairs: attachments.flatMap(({ chain }) => safePairs(chain.cniArgs)) };
  return {
    namespace: (argOf(args, "K8S_POD_NAMESPACE") ?? "") as Namespace,
    name: (argOf(args, "K8S_POD_NAME") ?? "") as PodName,
    uid: (argOf(args, "K8S_POD_UID") ?? "") as PodUid,
  };
}

function safePairs(cniArgs: string): readonly (readonly [string, string])[] {
  try {
    return parseCniArgs(cniArgs).pairs;
  } catch {
    return []; // Only the pod's name is lost, and the DEL brings it.
  }
}

function reasonOf(cause: unknown): string {
  return cause instanceof LeveeError || cause instanceof Error ? cause.message : String(cause);
}
