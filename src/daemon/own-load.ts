import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Admission } from "../admission/admission.ts";
import type { LoadFacts } from "../admission/host-load.ts";
import { parseOwnMemory, type OwnMemory } from "../admission/own-memory.ts";
import { parseStall } from "../admission/pressure.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { cgroupPlaces } from "./own-cgroup.ts";
import type { NodeChecks } from "./node-checks.ts";
import { memoryCheck } from "../readiness/memory-rules.ts";
import type { Service } from "./service.ts";

/** Often enough to see a storm's memory grow; a look is seven small files. */
const lookMs = 1_000;

export interface OwnLoadOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly admission: Pick<Admission, "observe" | "facts">;
  readonly checks: Pick<NodeChecks, "add">;
  /** Where `proc` and `sys` are. */
  readonly root?: string;
}

/** Tells admission once a second how much of the daemon's memory is used, and how the host bears its load. */
export function startOwnLoad({ clock, logger, admission, checks, root = "/" }: OwnLoadOptions): Service {
  let isLooking = false;
  let seen: OwnMemory | undefined;
  checks.add(() => [
    memoryCheck({
      state: admission.facts().ownMemory,
      usageBytes: seen?.usageBytes,
      limitBytes: seen?.limitBytes,
    }),
  ]);
  const cancel = clock.every(lookMs, () => void look());
  return { stop: cancel };

  async function look(): Promise<void> {
    // A host under pressure may take longer than a second to read a file.
    if (isLooking) return;
    isLooking = true;
    const facts = await readLoad(root);
    isLooking = false;
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

export async function readLoad(root: string): Promise<LoadFacts> {
  const [ownMemory, cpu, memory, io] = await Promise.all([
    readOwnMemory(root),
    ...["cpu", "memory", "io"].map((what) => textOf(join(root, "proc/pressure", what))),
  ]);
  return { ownMemory, pressure: { cpu: stallOf(cpu), memory: stallOf(memory), io: stallOf(io) } };
}

function stallOf(text: string | undefined): ReturnType<typeof parseStall> {
  return text === undefined ? undefined : parseStall(text);
}

async function readOwnMemory(root: string): Promise<OwnMemory | undefined> {
  const { folders, names } = cgroupPlaces((await textOf(join(root, "proc/self/cgroup"))) ?? "", root);
  for (const folder of folders) {
    const wanted = [names.limit, names.usage, names.stat, names.events];
    const [limit, usage, stat, events] = await Promise.all(wanted.map((name) => textOf(join(folder, name))));
    if (limit !== undefined) return parseOwnMemory({ limit, usage, stat, events });
  }
  return undefined;
}

async function textOf(path: string): Promise<string | undefined> {
  // Absent, or turned off, on many a kernel: what cannot be read is not known, and not knowing is no error.
  return readFile(path, "utf8").catch(() => undefined);
}
