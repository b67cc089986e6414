import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { pause } from "../until.ts";

/** A plugin that runs now. */
export interface PluginRun {
  readonly pid: number;
  readonly command: string;
  readonly containerId: string;
}

/** How far a plugin gets between two looks. */
const stepMs = 5;

/** The running processes of a plugin. */
export function runsOf(program: string): readonly PluginRun[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .flatMap((pid) => {
      try {
        if (readlinkSync(`/proc/${pid}/exe`) !== program) return [];
        const env = new Map(
          readFileSync(`/proc/${pid}/environ`, "utf8")
            .split("\0")
            .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
        );
        return [
          {
            pid: Number(pid),
            command: env.get("CNI_COMMAND") ?? "",
            containerId: env.get("CNI_CONTAINERID") ?? "",
          },
        ];
      } catch {
        // It ended while we looked.
        return [];
      }
    });
}

/**
 * Lets a plugin run step by step, stopped between two steps, until it has come as far as asked, and kills it there. False
 * when it ended before.
 */
export async function killOnceFar({ pid }: PluginRun, isFar: () => Promise<boolean>): Promise<boolean> {
  while (send(pid, "SIGSTOP")) {
    if (await isFar()) return send(pid, "SIGKILL");
    send(pid, "SIGCONT");
    await pause(stepMs);
  }
  return false;
}

/** False for a process that has ended, also when its parent has not noticed yet. */
function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    if (/^State:\s+Z/mu.test(readFileSync(`/proc/${pid}/status`, "utf8"))) return false;
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}
