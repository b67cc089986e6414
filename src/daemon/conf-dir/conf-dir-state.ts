import { dirname, join } from "node:path";
import { note, warning, type ConfDirProblem, type ConfDirState } from "./conf-dir-facts.ts";
import type { FolderLook } from "./look-at-folder.ts";
import type { WantedConf } from "./conf-origin.ts";

/** How the runtime treats our conf, given what is in the folder. */
export function stateOf(look: FolderLook | undefined, circumstances: Circumstances): ConfDirState {
  const { isContested, isDue } = circumstances;
  if (isContested) return "contested";
  if (look === undefined) return "failing";
  if (look.own.kind === "absent") return isDue ? "failing" : "waiting";
  if (look.shadowedBy !== undefined) return "shadowed";
  if (look.own.kind === "chained") return "chained";
  return look.own.callsUs ? "in-force" : "failing";
}

interface Circumstances {
  readonly isContested: boolean;
  /** The daemon has a conf to write. */
  readonly isDue: boolean;
}

export function problemsOf(look: FolderLook, wanted: WantedConf, path: string): readonly ConfDirProblem[] {
  const problems: ConfDirProblem[] = [];
  if (look.shadowedBy !== undefined) {
    const message = `The runtime reads ${look.shadowedBy}, which sorts before ${path}, so new pods get that network only`;
    problems.push(warning("shadowed", message, "rename it so that it sorts later"));
  }
  if (look.own.kind === "chained")
    problems.push(...chainProblems(look.own.others, wanted, join(dirname(path), look.own.fileName)));
  if (look.multus !== undefined)
    problems.push(note("multus-beside", `${look.multus} has no effect, as ${path} sorts before it`));
  return problems;
}

function chainProblems(others: readonly string[], wanted: WantedConf, path: string): readonly ConfDirProblem[] {
  const problems = [
    note("chained", `${path} was made a list by another program, with ${others.join(", ")} after Levee`),
  ];
  const twice = others.filter((type) => wanted.pluginTypes.includes(type));
  if (twice.length === 0) return problems;
  const message = `${twice.join(", ")} runs twice for each pod: in ${path} and in the primary network's ${wanted.primary ?? "conf"}`;
  return [...problems, warning("chained-twice", message, "let its installer chain it into the primary network only")];
}

/** The conf is back in place; the warning stays for the length of the window. */
export function tamperedProblem(path: string, tampering: string, mends: number): ConfDirProblem {
  const times = mends === 1 ? "once" : `${mends} times`;
  return warning("tampered", `${path} ${tampering}, and was put back ${times} within 10 minutes`, exclusiveRemedy);
}

export function contestedProblem(path: string, tampering: string): ConfDirProblem {
  return warning(
    "contested",
    `${path} ${tampering} again and again, so Levee leaves it alone for an hour: new pods get the primary network only`,
    exclusiveRemedy,
  );
}

/** Two agents overwrite each other, or one agent alternates between two texts. */
export function unsteadyProblem(path: string, paceMs: number): ConfDirProblem {
  return warning(
    "unsteady",
    `The source of ${path} keeps changing, so Levee writes it at most once in ${paceMs / 1_000} s: the runtime reloads all its confs at each write`,
    "find out which program writes the primary network's conf",
  );
}

const exclusiveRemedy = "find out which program does this; Cilium does unless its cni.exclusive is false";

const causes: Readonly<Record<string, string>> = {
  ENOENT: "the folder does not exist",
  ENOTDIR: "it is not a folder",
  EROFS: "it is read-only",
  ENOSPC: "its disk is full",
  EACCES: "the daemon, which is root without capabilities, may not write there",
};

const remedies: Readonly<Record<string, string>> = {
  ENOENT: "mount the host's conf directory there, or set cniConfigDir to it",
  ENOTDIR: "set cniConfigDir to the host's conf directory",
  EROFS: "mount it writable",
  ENOSPC: "free space on it",
  EACCES: "let root own it",
};

export function unwritableProblem(folder: string, errno: string): ConfDirProblem {
  const cause = causes[errno] ?? "the system refuses it";
  return warning(
    "unwritable",
    `Cannot write the conf to ${folder} (cniConfigDir), and will try again: ${cause} (${errno})`,
    remedies[errno] ?? "",
  );
}
