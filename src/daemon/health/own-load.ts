import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Admission } from "../../admission/admission.ts";
import type { LoadFacts } from "../../admission/load/host-load.ts";
import { parseOwnMemory, type OwnMemory } from "../../admission/load/own-memory.ts";
import { parseStall, parseWaitedMs } from "../../admission/load/pressure.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { cgroupPlaces } from "../metrics/own-cgroup.ts";
import type { NodeChecks } from "./node-checks.ts";
import { memoryCheck } from "../../readiness/memory-rules.ts";
import type { Service } from "../service.ts";

/** Often enough to see memory grow in a storm; a look reads seven small files. */
const lookMs = 1_000;
/** While ADDs are held back for critical pods, so that a core is not free for long. */
const holdingLookMs = 250;

interface OwnLoadOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly admission: Pick<Admission, "observe" | "facts" | "isHolding">;
  readonly checks: Pick<NodeChecks, "add">;
  /** The folder that contains `proc` and `sys`. */
  readonly root?: string;
}

/** Feeds admission once a second with the daemon's memory use and the pressure on the host. */
export function startOwnLoad({ clock, logger, admission, checks, root = "/" }: OwnLoadOptions): Service {
  let seen: OwnMemory | undefined;
  checks.add(() => [
    memoryCheck({
      state: admission.facts().ownMemory,
      usageBytes: seen?.usageBytes,
      limitBytes: seen?.limitBytes,
    }),
  ]);
  let cancel = clock.after(lookMs, lookOn);
  return { stop: () => cancel() };

  function lookOn(): void {
    look();
    cancel = clock.after(admission.isHolding ? holdingLookMs : lookMs, lookOn);
  }

  function look(): void {
    const facts = readLoad(root);
    seen = facts.ownMemory;
    const before = admission.facts().ownMemory;
    admission.observe(facts);
    const { ownMemory: now } = admission.facts();
    if (now === before) return;
    const fields = { usageBytes: facts.ownMemory?.usageBytes, limitBytes: facts.ownMemory?.limitBytes };
    if (now === "free") logger.info("The daemon's memory is free again", fields);
    else if (now === "frozen")
      logger.warn("The daemon's memory is short; the number of parallel ADDs no longer grows", fields);
    else logger.error("The daemon's memory is nearly used up; only DELs are served", fields);
  }
}

/** Synchronous, because the kernel serves these files from memory and a thread per file would cost ten times as much. */
export function readLoad(root: string): LoadFacts {
  const text = (what: string): string | undefined => textOf(join(root, "proc/pressure", what));
  const cpu = text("cpu");
  return {
    ownMemory: readOwnMemory(root),
    pressure: { cpu: stallOf(cpu), memory: stallOf(text("memory")), io: stallOf(text("io")) },
    coresWaitedMs: cpu === undefined ? undefined : parseWaitedMs(cpu),
  };
}

function stallOf(text: string | undefined): ReturnType<typeof parseStall> {
  return text === undefined ? undefined : parseStall(text);
}

function readOwnMemory(root: string): OwnMemory | undefined {
  const { folders, names } = cgroupPlaces(textOf(join(root, "proc/self/cgroup")) ?? "", root);
  for (const folder of folders) {
    const read = (name: string): string | undefined => textOf(join(folder, name));
    const limit = read(names.limit);
    if (limit === undefined) continue;
    return parseOwnMemory({ limit, usage: read(names.usage), stat: read(names.stat), events: read(names.events) });
  }
  return undefined;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Many kernels lack the file or turn it off; its value is then unknown.
    return undefined;
  }
}
