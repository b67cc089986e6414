import { readFileSync } from "node:fs";
import type { PolicyServer } from "../policy-server.ts";

/** What the API server counts about itself, and what the kernel counts about it. */
export interface ServerCounters {
  readonly watchEvents: number;
  /** Of the events' objects, as they are sent. */
  readonly watchEventBytes: number;
  readonly podsFromEtcd: number;
  readonly cpuMs: number;
  readonly rssMib: number;
}

/** `kind`: whose watch events are counted. */
export async function serverCounters(server: PolicyServer, kind: string): Promise<ServerCounters> {
  const { text } = await server.ask({ method: "GET", path: "/metrics" });
  const sum = (metric: string, label: string): number =>
    [...text.matchAll(new RegExp(`^${metric}\\{[^}]*${label}[^}]*\\} (\\S+)$`, "gmu"))].reduce(
      (total, [, value]) => total + Number(value),
      0,
    );
  return {
    watchEvents: sum("apiserver_watch_events_total", kind),
    watchEventBytes: sum("apiserver_watch_events_sizes_sum", kind),
    podsFromEtcd: sum("apiserver_storage_list_fetched_objects_total", "pods"),
    ...processFacts(server.apiServerPid),
  };
}

/** A tick of /proc is a hundredth of a second on every machine that Linux runs on today. */
const tickMs = 10;

function processFacts(pid: number): { readonly cpuMs: number; readonly rssMib: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // Behind the name, which may have blanks: utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const rss = /VmRSS:\s+(\d+)/u.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return { cpuMs: tickMs * (Number(fields[11]) + Number(fields[12])), rssMib: Number(rss) / 1_024 };
}
