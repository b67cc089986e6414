import { join } from "node:path";
import { writeFileAtomically } from "../../../base/atomic-file.ts";
import { sandboxEnv, type Caller, type CallResult, type CallVerb, type StormSandbox } from "./caller.ts";
import { runCheaply } from "./cheap-process.ts";
import { callEnd, type ProgramCallerOptions } from "./program-caller.ts";

/** One plugin of the floor: the plugin's file, its whole configuration and the pod's interface. */
interface DirectPlugin {
  readonly program: string;
  readonly conf: string;
  readonly ifname: string;
}

/**
 * The delegates alone, one after another, DEL in reverse: what a pod costs without a meta-plugin. Each is a network of
 * its own, so none gets the result of the one before.
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
        // A DEL goes on: what can be removed is removed.
        if (!end.isOk && verb === "ADD") return end;
        if (!end.isOk) last = end;
      }
      return last;
    },
  };
}

const delegateTimeoutMs = 120_000;
