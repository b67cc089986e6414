/** The definitions of deploy/crd and the types of src/guard say the same. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { decisionApiVersion, decisionPhases, terminalPhases, verdicts } from "../../src/guard/decision/decision.ts";
import * as limits from "../../src/guard/decision/limits.ts";
import { stepActions } from "../../src/guard/decision/step.ts";
import { fullDecision, fullStatus } from "./full-decision.ts";

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly [rules: `x-${string}`]: unknown;
}

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

const decision = definition("decision");
const schema = schemaOf(decision);
const approvalSchema = schemaOf(definition("decision-approval"));

test("the definition has every field of the types, and besides them only what is named here", () => {
  const { spec } = fullDecision("q");
  const written = [...fieldsOf(spec, "spec"), ...fieldsOf(fullStatus(), "status")];
  const defined = new Set([...definedIn(schema.properties?.["spec"], "spec"), ...definedIn(at("status"), "status")]);
  expect(written.filter((path) => !defined.has(path))).toEqual([]);
  const more = [...defined].filter((path) => !written.includes(path) && !path.startsWith("status.conditions."));
  expect(more).toEqual([]);
});

test("the definition has the group, phases, actions and verdicts of the types", () => {
  const { group, versions } = decision.spec;
  expect(`${group}/${versions[0]?.name}`).toBe(decisionApiVersion);
  expect(at("status", "phase").enum).toEqual([...decisionPhases]);
  expect(at("spec", "steps", "action").enum).toEqual([...stepActions]);
  // Allow is a person's word on a node's gate, and no Decision hears it.
  expect(approvalSchema.properties?.["spec"]?.properties?.["verdict"]?.enum).toEqual([...verdicts, "Allow"]);
  const rule = JSON.stringify(schema["x-kubernetes-validations"]);
  expect(rule).toContain(`[${[...terminalPhases].map((phase) => `'${phase}'`).join(", ")}]`);
});

test("the definition has the limits of the types", () => {
  // How many steps remove pods is a matter of room in all, which the API server measures itself.
  const { removeStepsMax: _steps, targetsBytesMax: _bytes, ...shared } = limits;
  expect({
    targetsPerStepMax: at("spec", "steps", "targets").maxItems,
    stepsMax: at("spec", "steps").maxItems,
    evidenceMax: at("spec", "evidence").maxItems,
    chainEdgesMax: at("spec", "chain").maxItems,
    notesMax: at("spec", "notes").maxItems,
    stuckWorkloadsMax: at("spec", "steps", "listStuck", "workloads").maxItems,
    askedMax: at("spec", "steps", "askPerson", "items").maxItems,
    jobsMax: at("spec", "steps", "scaleOwner", "jobs").maxItems,
    checksMax: at("spec", "steps", "verify", "checks").maxItems,
    textCharsMax: at("spec", "steps", "title").maxLength,
    summaryCharsMax: at("spec", "summary").maxLength,
    revisionsMax: at("spec", "revisions").maxItems,
    revisionCharsMax: at("spec", "revisions", "change").maxLength,
    auditMax: at("status", "audit").maxItems,
    auditCharsMax: at("status", "audit", "what").maxLength,
    kubectlLinesMax: at("spec", "steps", "kubectl").maxItems,
    kubectlCharsMax: at("spec", "steps", "kubectl").items?.maxLength,
  }).toEqual(shared);
});

function definition(name: string): Definition {
  return parse(readFileSync(join(import.meta.dir, `../../deploy/crd/${name}.yaml`), "utf8")) as Definition; // our own
}

function schemaOf(found: Definition): Schema {
  return found.spec.versions[0]?.schema.openAPIV3Schema ?? {};
}

/** Lists are gone into. */
function at(...path: readonly string[]): Schema {
  return path.reduce<Schema>((found, name) => {
    const next = (found.items ?? found).properties?.[name];
    if (next === undefined) throw new Error(`The definition has no ${path.join(".")}`);
    return next;
  }, schema);
}

function definedIn(found: Schema | undefined, path: string): readonly string[] {
  if (found?.items !== undefined) return definedIn(found.items, path);
  if (found?.properties === undefined) return [path];
  return Object.entries(found.properties).flatMap(([name, inner]) => definedIn(inner, `${path}.${name}`));
}

function fieldsOf(value: unknown, path: string): readonly string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((item) => fieldsOf(item, path)))];
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([name, inner]) => fieldsOf(inner, `${path}.${name}`));
}
