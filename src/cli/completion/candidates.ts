import type { Command, Option } from "commander";
import { decisionPhase } from "../../guard/decide/standing.ts";
import { terminalPhases, verdicts } from "../../guard/decision/decision.ts";
import { deadline } from "../../base/clock.ts";
import { guardNamespace } from "../cluster/cluster-options.ts";
import { withCluster } from "../cluster/with-cluster.ts";
import { commandOf } from "../decisions/consent.ts";
import { readDecisions } from "../decisions/decision-source.ts";
import type { GatePlace } from "../gate/gate-place.ts";
import { readExceptions, readGates } from "../gate/read-gates.ts";
import { outputFormats } from "../terminal/print.ts";
import { readVendorLock } from "../vendor/vendor-lock.ts";
import { findVendorRoot } from "../vendor/vendor-root.ts";
import type { Shell } from "../shell.ts";
import { optionsOf, readPartialLine, subcommandNames, type PartialLine } from "./partial-line.ts";

/** The longest wait after Tab. */
const clusterMs = 3_000;

/** The possible completions of the last word. */
export async function candidates(program: Command, words: readonly string[], shell: Shell): Promise<readonly string[]> {
  const last = words.at(-1) ?? "";
  const line = readPartialLine(program, words.slice(0, -1));
  const all = await possible(line, last, shell);
  return [...new Set(all)].filter((word) => word.startsWith(last)).toSorted();
}

async function possible(line: PartialLine, last: string, shell: Shell): Promise<readonly string[]> {
  if (line.awaits !== undefined) return valuesOf(line.awaits, line.command);
  if (last.startsWith("-")) return optionsOf(line.command).flatMap(({ long }) => long ?? []);
  return [...(line.operands.length === 0 ? subcommandNames(line.command) : []), ...(await operandsOf(line, shell))];
}

/** For options with few values; for the others the shell offers files. */
function valuesOf(option: Option, command: Command): readonly string[] {
  switch (option.long) {
    case "--output":
      return [
        ...outputFormats,
        ...(["decisions", "gate", "except"].includes(command.parent?.name() ?? "") ? ["name"] : []),
        ...(command.name() === "check" ? ["short"] : []),
        ...(command.name() === "lint" ? ["sarif", "github"] : []),
      ];
    case "--fail-on":
      return ["warning", "error"];
    default:
      return [];
  }
}

async function operandsOf({ command, operands, given }: PartialLine, shell: Shell): Promise<readonly string[]> {
  const path = pathOf(command);
  const names = Object.hasOwn(operandNames, path) ? operandNames[path] : undefined;
  return operands.length > 0 || names === undefined ? [] : await names(given, shell);
}

type Names = (given: PartialLine["given"], shell: Shell) => Promise<readonly string[]> | readonly string[];

/** What comes after each command. */
const operandNames: Readonly<Record<string, Names>> = {
  "explain": async () => (await import("../explain/topics.ts")).allTopics().map(({ name }) => name),
  "completion": () => ["bash"],
  "vendor verify": ({ repository }) => vendoredPaths(repository),
  "vendor bump": ({ repository }) => vendoredPaths(repository),
  "decisions show": (given, shell) => decisionNames(given, shell, false),
  "report": (given, shell) => decisionNames(given, shell, false),
  ...Object.fromEntries(
    verdicts.map((verdict): [string, Names] => [
      `decisions ${commandOf(verdict)}`,
      (given, shell) => decisionNames(given, shell, true),
    ]),
  ),
  "gate why": (given, shell) => gateNames(given, shell, nodesOf),
  "gate allow": (given, shell) => gateNames(given, shell, nodesOf),
  "gate except remove": (given, shell) => gateNames(given, shell, exceptionsOf),
};

/** Outside of a repository, and with a damaged lock file, there are none. */
async function vendoredPaths(repository: string | undefined): Promise<readonly string[]> {
  try {
    return (await readVendorLock(await findVendorRoot(repository))).map(({ path }) => path);
  } catch {
    // Completion has no place to show an error.
    return [];
  }
}

/** With `isOpen`, only Decisions that have not ended. A cluster that does not answer gives no names. */
async function decisionNames(given: PartialLine["given"], shell: Shell, isOpen: boolean): Promise<readonly string[]> {
  using limit = deadline(shell.clock, clusterMs, () => new Error("too late"), shell.interrupted);
  const { kubeconfig, context, namespace = guardNamespace } = given;
  try {
    const { decisions } = await withCluster(shell, { kubeconfig, context }, (api) =>
      readDecisions({ api, namespace, signal: limit.signal }),
    );
    return decisions
      .filter((decision) => !isOpen || !terminalPhases.has(decisionPhase(decision)))
      .map(({ metadata }) => metadata.name);
  } catch {
    // Completion has no place to show an error.
    return [];
  }
}

/** A cluster that does not answer gives no names. */
async function gateNames(
  { kubeconfig, context, namespace = guardNamespace }: PartialLine["given"],
  shell: Shell,
  names: (place: GatePlace) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  using limit = deadline(shell.clock, clusterMs, () => new Error("too late"), shell.interrupted);
  const { signal } = limit;
  try {
    return await withCluster(shell, { kubeconfig, context }, (api) => names({ api, namespace, signal }));
  } catch {
    // Completion has no place to show an error.
    return [];
  }
}

async function nodesOf(place: GatePlace): Promise<readonly string[]> {
  return (await readGates(place)).map(({ node }) => node);
}

async function exceptionsOf(place: GatePlace): Promise<readonly string[]> {
  return (await readExceptions(place)).map(({ name }) => name);
}

function pathOf(command: Command): string {
  const parent = command.parent === null ? "" : pathOf(command.parent);
  return command.parent === null ? "" : `${parent} ${command.name()}`.trim();
}
