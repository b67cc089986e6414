import { join } from "node:path";
import { writeFileAtomically } from "../../../base/atomic-file.ts";
import { sandboxEnv, type Caller, type CallResult, type CallVerb, type StormSandbox } from "./caller.ts";
import { runCheaply } from "./cheap-process.ts";
import { callEnd, type ProgramCallerOptions } from "./program-caller.ts";

/** One plugin that is called directly: its program, its whole configuration and the pod's interface. */
interface DirectPlugin {
  readonly program: string;
  readonly conf: string;
  readonly ifname: string;
}

/**
 * Calls the plugins directly, one after another, and DEL in reverse: the cost of a pod without a meta-plugin. Each plugin is
 * a separate network, so none gets the previous result.
 */
export async function chainCaller(
  options: Omit<ProgramCallerOptions, "program" | "conf">,
  delegates: readonly DirectPlugin[],
): Promise<Caller> {
  const { clock, folder, cniPath, env, timeoutMs = delegateTimeoutMs } = options;
  const stdinPath = (at: number): string => join(folder, `delegate-${at}.json`);
  for (const [at, { conf }] of delegates.entries())
    await writeFileAtomically(stdinPath(at), conf, { mode: 0o600, sync: false });
  const running = new Set<number>();
  const one = async (verb: CallVerb, sandbox: StormSandbox, at: number): Promise<CallResult> => {
    const { program = "", ifname = "" } = delegates[at] ?? {};
    const end = await runCheaply(clock, {
      program,
      env: { ...env, ...sandboxEnv(verb, sandbox, cniPath), CNI_IFNAME: ifname },
      stdinPath: stdinPath(at),
      stdoutPath: join(folder, `${sandbox.containerId}.${at}.${verb}`),
      timeoutMs,
      running,
    });
    return callEnd(verb, end);
  };
  return {
    running,
    async call(verb, sandbox) {
      const order = [...delegates.keys()];
      let last: CallResult = { isOk: true, message: "" };
      for (const at of verb === "DEL" ? order.toReversed() : order) {
        const end = await one(verb, sandbox, at);
        // A DEL continues after a failure, to remove as much as possible.
        if (!end.isOk && verb === "ADD") return end;
        if (!end.isOk) last = end;
      }
      return last;
    },
  };
}

const delegateTimeoutMs = 120_000;
