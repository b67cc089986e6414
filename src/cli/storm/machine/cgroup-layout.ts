import { readFileSync } from "node:fs";

/** This machine's memory and CPU controllers: one tree (v2), or one per controller (v1). */
export type CgroupLayout =
  | { readonly version: 2; readonly root: string }
  | { readonly version: 1; readonly memory: string; readonly cpu: string; readonly cpuacct: string };

/** Undefined if groups cannot have a memory limit here. */
export function findCgroupLayout(): CgroupLayout | undefined {
  const mountInfo = textOf("/proc/self/mountinfo");
  const { unified } = cgroupMounts(mountInfo);
  return cgroupLayout(mountInfo, unified === undefined ? "" : textOf(`${unified}/cgroup.controllers`));
}

/** A machine may have both versions mounted; only one of them has the memory controller. */
export function cgroupLayout(mountInfo: string, unifiedControllers: string): CgroupLayout | undefined {
  const { byController, unified } = cgroupMounts(mountInfo);
  const [memory, cpu, cpuacct] = ["memory", "cpu", "cpuacct"].map((name) => byController.get(name));
  if (memory !== undefined && cpu !== undefined && cpuacct !== undefined) return { version: 1, memory, cpu, cpuacct };
  const controllers = unifiedControllers.trim().split(" ");
  return unified !== undefined && controllers.includes("memory") && controllers.includes("cpu")
    ? { version: 2, root: unified }
    : undefined;
}

interface CgroupMounts {
  readonly byController: ReadonlyMap<string, string>;
  readonly unified: string | undefined;
}

function cgroupMounts(mountInfo: string): CgroupMounts {
  const mounts = mountInfo.split("\n").map(parseMount);
  const v1 = mounts.filter(({ type }) => type === "cgroup");
  return {
    // The first mount of a controller counts; later ones are copies in other folders.
    byController: new Map(v1.toReversed().flatMap(({ options, point }) => options.map((name) => [name, point]))),
    unified: mounts.find(({ type }) => type === "cgroup2")?.point,
  };
}

interface Mount {
  readonly point: string;
  readonly type: string;
  readonly options: readonly string[];
}

/** A line of mountinfo: `ID PARENT DEV ROOT POINT OPTIONS [TAGS] - TYPE SOURCE SUPER-OPTIONS`. */
function parseMount(line: string): Mount {
  const [place = "", kind = ""] = line.split(" - ");
  const [type = "", , options = ""] = kind.split(" ");
  return { point: place.split(" ")[4] ?? "", type, options: options.split(",") };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // The caller reports that there are no controllers.
  }
}
