import { CommandFailure, cniCodeName, interruptedFailure } from "../failure.ts";
import { podText } from "./names.ts";
import { netnsPath } from "./netns.ts";
import type { AttachedPod } from "./pod-file.ts";
import { remedyFor, type PrintedError, type Places } from "../remedies.ts";
import { isSuccess, runProgram, type ProgramEnd } from "../run-program.ts";
import type { Settings } from "../settings.ts";
import { childEnv, type Shell } from "../shell.ts";

/** A pod for which the shim is called. */
export interface PodSandbox extends AttachedPod {
  /** Path of its namespace, if `levee attach` did not make it. The namespace may be gone. */
  readonly netnsPath?: string;
}

/** One CNI call, as a container runtime makes it. */
interface ShimCall {
  readonly verb: "ADD" | "DEL";
  readonly pod: PodSandbox;
  /** The configuration on the shim's stdin. */
  readonly conf: string;
  readonly signal?: AbortSignal;
}

/** The interface of a pod's default network, which a runtime passes in every call. */
export const shimIfname = "eth0";

const shimRemedy = "name the shim with --shim FILE or LEVEE_SHIM";

/** The shim's own limit is at most 110 s, so after this time it is broken. */
const shimTimeoutMs = 120_000;

/** The shim answered with a CNI error. */
export class CniFailure extends CommandFailure {
  readonly error: PrintedError;

  constructor(error: PrintedError, message: string, remedy: string) {
    super(cniCodeName(error.code), message, { remedy });
    this.error = error;
  }
}

type ShimSettings = Pick<Settings, "shim" | "cniPath"> & Places;

/** Runs the shim as containerd would and returns its output. */
export async function callShim(shell: Shell, settings: ShimSettings, call: ShimCall): Promise<string> {
  const end = await runProgram(shell.clock, {
    file: settings.shim,
    args: [],
    env: childEnv(shell, cniEnv(call, settings.cniPath)),
    input: call.conf,
    timeoutMs: shimTimeoutMs,
    ...(call.signal === undefined ? {} : { signal: call.signal }),
  });
  if (!isSuccess(end)) throw shimFailure(call, settings, end);
  if (call.verb === "ADD" && !isResult(end.stdout)) {
    throw new CommandFailure(
      "shim-failed",
      `Cannot attach ${podText(call.pod)}: ${settings.shim} succeeded but printed no CNI result`,
      { remedy: shimRemedy },
    );
  }
  return end.stdout;
}

export function cniEnv(call: Pick<ShimCall, "verb" | "pod">, cniPath: string): Record<string, string> {
  const { pod } = call;
  return {
    CNI_COMMAND: call.verb,
    CNI_CONTAINERID: pod.containerId,
    CNI_NETNS: pod.netnsPath ?? netnsPath(pod.netns),
    CNI_IFNAME: shimIfname,
    CNI_PATH: cniPath,
    CNI_ARGS: [
      "IgnoreUnknown=1",
      `K8S_POD_NAMESPACE=${pod.namespace}`,
      `K8S_POD_NAME=${pod.name}`,
      `K8S_POD_INFRA_CONTAINER_ID=${pod.containerId}`,
      `K8S_POD_UID=${pod.uid}`,
    ].join(";"),
  };
}

/** Any program can exit with 0 and print nothing; a shim that attached a pod prints a result. */
function isResult(stdout: string): boolean {
  try {
    const value: unknown = JSON.parse(stdout);
    return typeof value === "object" && value !== null && Object.keys(value).length > 0;
  } catch {
    return false; // Not JSON, so no result.
  }
}

function shimFailure(call: ShimCall, settings: ShimSettings, end: ProgramEnd): CommandFailure {
  const doing = call.verb === "ADD" ? "attach" : "detach";
  const what = `Cannot ${doing} ${podText(call.pod)}`;
  if (end.stopped === "interrupted") return interruptedFailure(`${doing}ing ${podText(call.pod)}`);
  if (end.stopped === "timeout")
    return new CommandFailure("shim-timeout", `${what}: the shim did not end within ${shimTimeoutMs / 1000} s`, {
      remedy: "levee version, then the daemon's log",
    });
  if (end.startError !== undefined) {
    return new CommandFailure(
      "shim-missing",
      `${what}: the shim ${settings.shim} could not be started, ${end.startError}`,
      {
        remedy: shimRemedy,
      },
    );
  }
  const error = parsePrintedError(end.stdout);
  if (error !== undefined) {
    const details = error.details === "" ? "" : `; ${error.details}`;
    return new CniFailure(error, `${what}: ${error.message}${details}`, remedyFor(error, settings, call.pod));
  }
  const reason =
    end.stderr.trim() || `it ended with ${end.signal ?? `status ${end.exitCode ?? "unknown"}`} and no message`;
  return new CommandFailure("shim-failed", `${what}: the shim failed: ${reason}`, {
    remedy: `levee why ${podText(call.pod)}`,
  });
}

/** The error object of the CNI specification, which plugins print on stdout. */
export function parsePrintedError(stdout: string): (PrintedError & { readonly details: string }) | undefined {
  try {
    const value: unknown = JSON.parse(stdout);
    if (typeof value !== "object" || value === null || !("code" in value) || !("msg" in value)) return undefined;
    if (typeof value.code !== "number" || typeof value.msg !== "string") return undefined;
    const details = "details" in value && typeof value.details === "string" ? value.details : "";
    return { code: value.code, message: value.msg, details };
  } catch {
    return undefined; // Not JSON, so the caller uses stderr.
  }
}
