import type { RunOrder } from "../../wire/messages.ts";
import type { Outcome } from "../../wire/outcome.ts";
import type { SpanAttributes } from "./span.ts";

/** The span of one plugin's run is named by what it does. */
export function pluginSpanName({ env, plugin }: RunOrder): string {
  return `${env["CNI_COMMAND"] ?? ""} ${plugin}`;
}

export function askedOf({ env, plugin }: RunOrder): SpanAttributes {
  return { "cni.command": env["CNI_COMMAND"] ?? "", "cni.plugin": plugin, "cni.ifname": env["CNI_IFNAME"] };
}

/** What the shim measured of a plugin. */
export function usedBy(outcome: Outcome): SpanAttributes {
  const { exitCode, signal, timedOut, cpuUs, maxRssKib, failure, builtIn, notBuiltIn } = outcome;
  return {
    "process.exit.code": exitCode,
    "levee.signal": signal,
    "levee.timed_out": timedOut ? true : undefined,
    "levee.not_run": failure,
    "levee.built_in": builtIn,
    "levee.not_built_in": notBuiltIn,
    "levee.cpu_us": cpuUs,
    "levee.max_rss_bytes": maxRssKib * 1_024,
  };
}
