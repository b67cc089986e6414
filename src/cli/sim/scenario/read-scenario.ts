import { isMap, LineCounter, parseDocument, type YAMLParseError } from "yaml";
import type { RebootPlan } from "../../../sim/reboot/reboot-plan.ts";
import type { MachineModel } from "../../../sim/machine/machine-model.ts";
import type { SimStormFault, SimStormPlan, SimStormPod } from "../../../sim/storm/sim-storm-plan.ts";
import { CommandFailure, exitCode } from "../../failure.ts";
import { textOfFile } from "../text-of-file.ts";
import { FieldReader, type FieldProblem, type FieldValues } from "./read-fields.ts";
import { faultsOf } from "./scenario-faults.ts";
import { leastBytes, simMax, spanMaxText } from "../sim-words.ts";
import { scenarioExample, scenarioFields, scenarioMax, type FieldTable } from "./scenario-fields.ts";
import { groupedPods, NodeNames } from "./scenario-pods.ts";
import { rebootPlanOf } from "./scenario-reboots.ts";

const problemsShown = 10;
const seenMax = 60;

interface ScenarioWords {
  readonly impl?: string;
  readonly seed?: number;
  readonly model: MachineModel;
}

/** A scenario is a storm of pods, or a fleet with reboots due. */
export type ScenarioPlan = { readonly storm: SimStormPlan } | { readonly reboots: RebootPlan };

/** Reads a scenario file into a plan. Everything that is wrong is named with line, field, value and remedy. */
export async function readScenario(path: string, words: ScenarioWords): Promise<ScenarioPlan> {
  const text = await textOfFile(path, "scenario", "levee sim run FILE, with a file as in examples/sim/");
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, uniqueKeys: false, prettyErrors: false });
  const [first] = document.errors;
  if (first !== undefined) throw failure(path, [problemOf(first, counter.linePos(first.pos[0]).line, text)]);
  const reader = new FieldReader(counter);
  const values = reader.object(document.contents, scenarioFields, "");
  // A file that is no object has been named.
  if (isMap(document.contents)) requirePodsOrReboots(reader);
  const plan = reader.problems.length === 0 ? planOf(values, reader, words) : undefined;
  const isBlank = isMap(document.contents) && reader.lines.size === 0;
  if (plan === undefined || reader.problems.length > 0)
    throw failure(path, reader.problems, isBlank ? `; a whole scenario is ${scenarioExample}` : "");
  return plan;
}

function problemOf({ code, message }: YAMLParseError, line: number, text: string): FieldProblem {
  // The parser's words for this are about its own functions.
  if (code === "MULTIPLE_DOCS")
    return { line, text: 'the file has "---", which begins a second document: make two files' };
  return notYaml(text, line, message);
}

/** An error at the end of a file is about what stands before. */
function notYaml(text: string, at: number, message: string): FieldProblem {
  const lines = text.split("\n").slice(0, at);
  const line = Math.max(
    0,
    lines.findLastIndex((one) => one.trim() !== ""),
  );
  const seen = JSON.stringify((lines[line] ?? "").trim().slice(0, seenMax));
  return { line: line + 1, text: `the file has ${seen}, which is not YAML: ${message}` };
}

/** Beside the other mistakes, so that a file is not refused for this when they are mended. */
function requirePodsOrReboots(reader: FieldReader): void {
  if (reader.lines.has("pods") || reader.lines.has("reboots")) return;
  reader.also("pods", "is missing: add it, or reboots, such as [{name: web, count: 219}]");
}

function planOf(values: FieldValues, reader: FieldReader, words: ScenarioWords): ScenarioPlan {
  const { reboots } = values;
  if (reboots !== undefined) return { reboots: rebootPlanOf(values, reader, words) };
  return { storm: stormPlanOf(values, reader, words) };
}

function stormPlanOf(values: FieldValues, reader: FieldReader, { impl, seed, model }: ScenarioWords): SimStormPlan {
  const networks = listOf<string>(values["networks"]);
  const nodes = new NodeNames(listOf<FieldValues>(values["nodes"]), reader);
  const pods: readonly SimStormPod[] = groupedPods(listOf<FieldValues>(values["pods"]), { nodes, networks, reader });
  const faults: readonly SimStormFault[] = faultsOf(listOf<FieldValues>(values["faults"]), { nodes, networks, reader });
  if (faults.length > scenarioMax.faults)
    reader.also("faults", `are ${faults.length} in all: at most ${scenarioMax.faults}, such as with a larger every`);
  const daemon = withDefaults(values["daemon"], { limit: 50 * 1024 ** 2 });
  const promises = withDefaults(values["promises"], { attachedWithin: 180_000, criticalWithin: 3_000 });
  refuseLongSpans(values, scenarioFields, { reader, place: "" });
  if (promises["rebootedWithin"] !== undefined)
    reader.also("promises.rebootedWithin", "fits only reboots: leave it out");
  if ((daemon["limit"] as number) < leastBytes)
    reader.also("daemon.limit", `is ${daemon["limit"] as number} bytes: it must be at least 1Mi, such as 50Mi`);
  const whole = withDefaults(values, { implementation: "levee", seed: 1 });
  const attaches = (impl ?? whole["implementation"]) as SimStormPlan["impl"];
  return {
    title: whole["name"] as string,
    impl: attaches,
    // The others have none, whatever the file says for a comparison.
    connectionLimit: attaches === "multus-4.3.0" ? (daemon["connectionLimit"] as number | undefined) : undefined,
    seed: seed ?? (whole["seed"] as number),
    nodes: nodes.all,
    limits: { limitBytes: daemon["limit"] as number, cpuMillis: daemon["cpu"] as number | undefined },
    model,
    networks,
    pods,
    faults,
    timeoutMs: promises["attachedWithin"] as number,
    criticalWithinMs: promises["criticalWithin"] as number,
    restartMs: undefined,
  };
}

interface SpanPlace {
  readonly reader: FieldReader;
  readonly place: string;
}

/** A run lasts as long as its latest time, and every daemon does something now and then while nothing happens. */
function refuseLongSpans(values: FieldValues, fields: FieldTable, { reader, place }: SpanPlace): void {
  for (const [key, value] of Object.entries(values)) {
    const field = fields.known[key];
    const path = `${place}${key}`;
    if (field?.is === "span" && (value as number) > simMax.spanMs)
      reader.also(path, `is ${reader.seen(path)}: it must be at most ${spanMaxText}, such as ${field.example}`);
    if (field?.is === "object") refuseLongSpans(value as FieldValues, field.fields, { reader, place: `${path}.` });
    if (field?.is === "list")
      listOf<FieldValues>(value).forEach((item, at) =>
        refuseLongSpans(item, field.fields, { reader, place: `${path}[${at}].` }),
      );
  }
}

function withDefaults(values: unknown, defaults: FieldValues): FieldValues {
  return { ...defaults, ...(values as FieldValues | undefined) };
}

function listOf<T>(value: unknown): readonly T[] {
  return (value ?? []) as readonly T[];
}

function failure(path: string, problems: readonly FieldProblem[], example = ""): CommandFailure {
  const lines = problems.slice(0, problemsShown).map(({ line, text }) => `${path}:${line}: ${text}`);
  const more = problems.length > problemsShown ? [`and ${problems.length - problemsShown} more`] : [];
  const count = problems.length === 1 ? "one mistake" : `${problems.length} mistakes`;
  return new CommandFailure("scenario-invalid", `Cannot use the scenario ${path}: it has ${count}`, {
    details: [...lines, ...more].join("\n"),
    remedy: `levee sim schema prints the schema; docs/sim.md explains each field${example}`,
    exitCode: exitCode.usage,
  });
}
