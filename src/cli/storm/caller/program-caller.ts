import { join } from "node:path";
import { writeFileAtomically } from "../../../base/atomic-file.ts";
import type { Clock } from "../../../base/clock.ts";
import { parsePrintedError } from "../../node/shim-call.ts";
import { sandboxEnv, type Caller, type CallResult, type CallVerb, type StormSandbox } from "./caller.ts";
import { runCheaply, type CheapEnd } from "./cheap-process.ts";

/** kubelet's limit for RunPodSandbox: twice its runtime request timeout of two minutes. */
const callTimeoutMs = 240_000;

export interface ProgramCallerOptions {
  readonly clock: Clock;
  /** A shim or a plugin. */
  readonly program: string;
  /** What it gets on stdin. */
  readonly conf: string;
  readonly cniPath: string;
  /** PATH and the like. */
  readonly env: Readonly<Record<string, string>>;
  /** For the files of stdin and stdout; use /run or another memory file system. */
  readonly folder: string;
  readonly timeoutMs?: number;
}

/** Makes every call with the same program and configuration: Levee's shim, Multus' shim, or one plugin. */
export async function programCaller(options: ProgramCallerOptions): Promise<Caller> {
  const { clock, program, conf, cniPath, env, folder, timeoutMs = callTimeoutMs } = options;
  const stdinPath = join(folder, "stdin.json");
  await writeFileAtomically(stdinPath, conf, { mode: 0o600, sync: false });
  const running = new Set<number>();
  return {
    running,
    async call(verb: CallVerb, sandbox: StormSandbox): Promise<CallResult> {
      const end = await runCheaply(clock, {
        program,
        env: { ...env, ...sandboxEnv(verb, sandbox, cniPath) },
        stdinPath,
        stdoutPath: join(folder, `${sandbox.containerId}.${verb}`),
        timeoutMs,
        running,
      });
      return callEnd(verb, end);
    },
  };
}

/** Any program can exit with 0; a successful ADD also prints a result. */
export function callEnd(verb: CallVerb, { exitCode, reason, stdout }: CheapEnd): CallResult {
  const error = parsePrintedError(stdout);
  if (exitCode === 0 && error === undefined && (verb === "DEL" || stdout.includes("{")))
    return { isOk: true, message: "" };
  if (error !== undefined)
    return { isOk: false, code: error.code, message: [error.message, error.details].filter(Boolean).join("; ") };
  if (exitCode === 0) return { isOk: false, message: "it succeeded but printed no result" };
  return {
    isOk: false,
    message: reason === "" ? `it ended with status ${exitCode ?? "unknown"} and no message` : reason,
  };
}
