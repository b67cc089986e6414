import { definitionHash } from "../../guard/approve/spec-hash.ts";
import { policyProblems } from "../../guard/approve/policy-standing.ts";
import { shippedDefinitions } from "../../guard/approve/shipped-definitions.ts";
import { shippedPolicies } from "../../guard/approve/shipped-policies.ts";
import { objectOf } from "../../kube/client/json-fields.ts";
import type { Snapshot } from "../cluster/snapshot.ts";
import type { Seen } from "../cluster/seen.ts";
import { failedLine, goodLine, unknownLine, warningLine, type Category, type ClusterLine } from "./cluster-line.ts";
import { plural } from "../terminal/plural.ts";

/** ValidatingAdmissionPolicy is stable since 1.30. */
const minorMin = 30;

export function apiCategory(snapshot: Snapshot): Category {
  const { version } = snapshot;
  if (!("value" in version)) return { name: "kubernetes-api", lines: [failedLine("LVE0101", version.why)] };
  const { text, minor } = version.value;
  const isOld = minor > 0 && minor < minorMin;
  return {
    name: "kubernetes-api",
    lines: [
      goodLine("LVE0101", text),
      isOld ? warningLine("LVE0102", `${text} is older than 1.${minorMin}`) : goodLine("LVE0102", ""),
      rightsLine(snapshot),
    ],
  };
}

/** What the API server refuses this user, in its own words. The lines below only say that it refuses. */
function rightsLine(snapshot: Snapshot): ClusterLine {
  const refused = Object.entries(snapshot).flatMap(([part, seen]): (readonly [string, string])[] => {
    const { status, why } = objectOf(seen) as Partial<{ status: number; why: string }>; // a Seen, or a plain value
    return status === 401 || status === 403 ? [[part, /\((.*)\)$/u.exec(why ?? "")?.[1] ?? why ?? ""]] : [];
  });
  if (refused.length === 0) return goodLine("LVE0103", "");
  const text = `${plural(refused.length, "part")} of the cluster cannot be read`;
  // An approver may see Decisions alone.
  const isBlind = [snapshot.nodes, snapshot.pods, snapshot.decisions].every((seen) => "why" in seen);
  return (isBlind ? failedLine : warningLine)("LVE0103", text, Object.fromEntries(refused));
}

const shippedNames = [...new Set(shippedPolicies.map(({ name }) => name))];
const ownerNames = shippedNames.filter((name) => name.startsWith("levee-pods-need-"));
const otherNames = shippedNames.filter((name) => !ownerNames.includes(name));

export function installCategory({ definitions, policies }: Snapshot): Category {
  return {
    name: "levee-install",
    lines: [
      definitionLine(definitions),
      policyLine("LVE0202", policies, otherNames),
      policyLine("LVE0203", policies, ownerNames),
    ],
  };
}

function definitionLine(definitions: Snapshot["definitions"]): ClusterLine {
  if (!("value" in definitions)) return unknownLine("LVE0201", definitions);
  const problems = shippedDefinitions.flatMap(({ name, hash }): (readonly [string, string])[] => {
    const found = definitions.value.find((one) => objectOf(objectOf(one)["metadata"])["name"] === name);
    if (found === undefined) return [[name, "is not installed"]];
    return hashOf(found) === hash ? [] : [[name, "is not as shipped"]];
  });
  if (problems.length === 0) return goodLine("LVE0201", plural(shippedDefinitions.length, "definition"));
  const isAbsent = definitions.value.length === 0;
  const evidence = Object.fromEntries(problems);
  // Levee works without the guard, so this is only a warning.
  return isAbsent
    ? warningLine("LVE0201", "the guard is not installed", evidence)
    : failedLine("LVE0201", `${problems.length} of ${shippedDefinitions.length} are not`, evidence);
}

function hashOf(definition: unknown): string {
  try {
    return definitionHash(definition);
  } catch {
    // A shipped definition can always be hashed, so this one is not as shipped.
    return "";
  }
}

function policyLine(
  code: "LVE0202" | "LVE0203",
  policies: Seen<Parameters<typeof policyProblems>[0]>,
  names: readonly string[],
): ClusterLine {
  if (!("value" in policies)) return unknownLine(code, policies);
  const problems = policyProblems(policies.value, names);
  if (problems.length === 0) return goodLine(code, plural(names.length, code === "LVE0202" ? "pair" : "object"));
  const evidence = Object.fromEntries(problems.map((problem) => problemParts(problem)));
  const isAbsent = !policies.value.some(({ metadata }) => names.includes(metadata.name));
  return isAbsent
    ? warningLine(code, "none is installed")
    : failedLine(code, plural(problems.length, "problem"), evidence);
}

/** `ValidatingAdmissionPolicy NAME is …`. */
function problemParts(problem: string): readonly [string, string] {
  const [kind = "", name = "", ...rest] = problem.split(" ");
  return [`${kind} ${name}`, rest.join(" ")];
}
