import type { NetnsIdentity } from "../base/identity.ts";
import { LeveeError } from "../base/errors.ts";
import { bytesField, flagField, lossyTexts, numberField, readFields, textField, type Frame } from "./frame.ts";
import type { TagName } from "./tag.ts";

type OrderFailure =
  | "missing"
  | "busy"
  | "exec"
  | "refused"
  | "killed"
  | "routes"
  | "timeout"
  | "links"
  | "list"
  | "remove";

/** What STAT found at a path. */
export interface FoundFile extends NetnsIdentity {
  /** Whether it is a network namespace; undefined when it cannot be opened, and from shims before version 4. */
  readonly isNetns?: boolean | undefined;
}

/** How an order ended, as fields. Callers make the sentences. */
export interface Outcome {
  readonly exitCode: number | undefined;
  readonly signal: number | undefined;
  readonly timedOut: boolean;
  readonly stdout: Uint8Array;
  readonly stdoutTruncated: boolean;
  readonly stderr: string;
  readonly wallUs: number;
  readonly cpuUs: number;
  readonly maxRssKib: number;
  readonly failure: OrderFailure | undefined;
  readonly errno: number | undefined;
  readonly message: string;
  readonly oomCgroup: number;
  readonly oomNode: number;
  readonly cgroupLimit: number | undefined;
  readonly cgroupUsage: number | undefined;
  readonly found: readonly (FoundFile | undefined)[];
  readonly processes: number;
  readonly alive: boolean;
  /** Programs that no word of the order covered: `NAME IDENTITY`, then what the file says of its origin. */
  readonly programs: readonly string[];
  /** The runtime has taken the namespace away that the plugin should have worked in. */
  readonly isNetnsGone: boolean;
  /** The version of the program for which the built-in plugin stood in; undefined when the program ran. */
  readonly builtIn: string | undefined;
  /** Why the built-in plugin did not serve although it might have. */
  readonly notBuiltIn: string | undefined;
}

/** Whether an order failed, and how. Looks at the node have no more to say than this and what they saw. */
export type OrderEnd = Pick<Outcome, "failure" | "errno" | "message">;

const orderFailures: ReadonlySet<string> = new Set<OrderFailure>([
  "missing",
  "busy",
  "exec",
  "refused",
  "killed",
  "routes",
  "timeout",
  "links",
  "list",
  "remove",
]);

const nothing = new Uint8Array(0);

function lossyText(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? "" : Buffer.from(bytes).toString("utf8");
}

export function readOutcome(frame: Frame): Outcome {
  return {
    exitCode: numberField(frame, "exit_code"),
    signal: numberField(frame, "signal"),
    timedOut: flagField(frame, "timed_out"),
    stdout: bytesField(frame, "stdout") ?? nothing,
    stdoutTruncated: flagField(frame, "stdout_truncated"),
    // People read a plugin's stderr, so broken UTF-8 is replaced, not refused.
    stderr: lossyText(bytesField(frame, "stderr")),
    wallUs: countOf(frame, "wall_us"),
    cpuUs: countOf(frame, "cpu_us"),
    maxRssKib: countOf(frame, "max_rss_kib"),
    ...readOrderEnd(frame),
    oomCgroup: countOf(frame, "oom_cgroup"),
    oomNode: countOf(frame, "oom_node"),
    cgroupLimit: numberField(frame, "cgroup_limit"),
    cgroupUsage: numberField(frame, "cgroup_usage"),
    found: readFields(frame, "found", readFound),
    processes: countOf(frame, "processes"),
    alive: flagField(frame, "alive"),
    programs: lossyTexts(frame, "program"),
    isNetnsGone: flagField(frame, "netns_gone"),
    builtIn: textField(frame, "built_in"),
    notBuiltIn: textField(frame, "not_built_in"),
  };
}

export function readOrderEnd(frame: Frame): OrderEnd {
  return {
    failure: readFailure(frame),
    errno: numberField(frame, "errno"),
    message: textField(frame, "message") ?? "",
  };
}

function readFailure(frame: Frame): OrderFailure | undefined {
  const failure = textField(frame, "failure");
  if (failure !== undefined && !orderFailures.has(failure)) {
    throw new LeveeError(
      "protocol-violated",
      `Cannot use an ${frame.type} frame with an unknown failure: current value is ${JSON.stringify(failure)}`,
    );
  }
  return failure as OrderFailure | undefined; // one of the set
}

/** A number that is 0 when absent. */
function countOf(frame: Frame, tag: TagName): number {
  return numberField(frame, tag) ?? 0;
}

const fileBytes = 17;
const netnsBytes = 26;

function readFound(bytes: Buffer, begin: number, end: number): FoundFile | undefined {
  const size = end - begin;
  if (size === 1 && bytes.readUInt8(begin) === 0) return undefined;
  if (size !== fileBytes && size !== netnsBytes)
    throw new LeveeError(
      "protocol-violated",
      `Cannot read a found field: it has ${netnsBytes} bytes, ${fileBytes} or 1, this one ${size}`,
    );
  const numbers = { device: bytes.readBigUInt64LE(begin + 1), inode: bytes.readBigUInt64LE(begin + 9) };
  if (size === fileBytes) return numbers;
  const kind = bytes.readUInt8(begin + fileBytes);
  const born = bytes.readBigUInt64LE(begin + fileBytes + 1);
  return {
    ...numbers,
    isNetns: kind !== 0,
    cookie: kind === 1 ? born : undefined,
    ctimeNs: kind === 2 ? born : undefined,
  };
}
