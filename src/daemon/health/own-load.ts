import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Admission } from "../../admission/admission.ts";
import type { LoadFacts } from "../../admission/load/host-load.ts";
import { parseOwnMemory, type OwnMemory } from "../../admission/load/own-memory.ts";
import { parseStall } from "../../admission/load/pressure.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { cgroupPlaces } from "./own-cgroup.ts";
import type { NodeChecks } from "./node-checks.ts";
import { memoryCheck } from "../../readiness/memory-rules.ts";
import type { Service } from "../service.ts";

/** Often enough to see a storm's memory grow; a look is seven small files. */
const lookMs = 1_000;

interface OwnLoadOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly admission: Pick<Admission, "observe" | "facts">;
  readonly checks: Pick<NodeChecks, "add">;
  /** Where `proc` and `sys` are. */
  readonly root?: string;
}

/** Tells admission once a second how much of the daemon's memory is used, and how the host bears its load. */
export function startOwnLoad({ clock, logger, admission, checks, root = "/" }: OwnLoadOptions): Service {
  let seen: OwnMemory | undefined;
  checks.add(() => [
    memoryCheck({
      state: admission.facts().ownMemory,
      usageBytes: seen?.usageBytes,
      limitBytes: seen?.limitBytes,
    }),
  ]);
  const cancel = clock.every(lookMs, look);
  return { stop: cancel };

  function look(): void {
    const facts = readLoad(root);
    seen = facts.ownMemory;
    const before = admission.facts().ownMemory;
    admission.observe(facts);
    const { ownMemory: now } = admission.facts();
    if (now === before) return;
    const fields = { usageBytes: facts.ownMemory?.usageBytes, limitBytes: facts.ownMemory?.limitBytes };
    if (now === "free") logger.info("The daemon's memory is free again", fields);
    else if (now === "frozen") logger.warn("The daemon's memory is short; no more ADDs run at once than now", fields);
    else logger.error("The daemon's memory is nearly used up; only DELs are served", fields);
  }
}

/** The kernel has all of it in memory: handing each file to a thread would cost ten times the read. */
export function readLoad(root: string): LoadFacts {
  const stall = (what: string): ReturnType<typeof stallOf> => stallOf(textOf(join(root, "proc/pressure", what)));
  return { ownMemory: readOwnMemory(root), pressure: { cpu: stall("cpu"), memory: stall("memory"), io: stall("io") } };
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
    // Absent, or turned off, on many a kernel: what cannot be read is not known, and not knowing is no error.
    return undefined;
  }
}
