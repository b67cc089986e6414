import { shippedPolicies } from "./shipped-policies.ts";
import { specHash } from "./spec-hash.ts";

export type PolicyKind = "ValidatingAdmissionPolicy" | "ValidatingAdmissionPolicyBinding";

/** An admission policy or its binding, as the API server gives it. */
export interface PolicyObject {
  readonly kind: PolicyKind;
  readonly metadata: {
    readonly name: string;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
    /** Counts changes of spec, starting at 1. */
    readonly generation?: number;
    readonly managedFields?: readonly { readonly time?: string; readonly subresource?: string }[];
  };
  readonly spec: unknown;
}

/** Makes an approval name its real author. Policy and binding share this name. */
export const approvalPolicy = "levee-approval-names-its-author";
/** Without these the guard's account could do more than it should, so the guard does nothing. */
export const confiningPolicies: readonly string[] = [
  "levee-guard-deletes-only-ownerless-pods",
  "levee-guard-changes-memory-only",
  "levee-guard-suspends-jobs-only",
  "levee-guard-stops-sources-only",
  "levee-guard-writes-nothing-else",
  "levee-guard-annotates-nodes-only",
];
/** The policy and the binding that denies by label, which the label on a namespace relies on. */
export const ownerPolicies: readonly string[] = [
  "levee-pods-need-a-controller-owner",
  "levee-pods-need-a-controller-owner-deny",
];

/** One sentence for each policy or binding of these names that is not as shipped. */
export function policyProblems(found: readonly PolicyObject[], names: readonly string[]): readonly string[] {
  return shippedPolicies
    .filter(({ name }) => names.includes(name))
    .flatMap(({ kind, name, specHash: shipped }) => {
      const object = find(found, kind, name);
      if (object === undefined) return [`${kind} ${name} is not installed`];
      if (object.metadata.deletionTimestamp !== undefined) return [`${kind} ${name} is being deleted`];
      return hashOf(object) === shipped ? [] : [`${kind} ${name} is not as shipped`];
    });
}

/**
 * Since when policy and binding of this name are as they are now; Infinity when unknown. An object that was changed and
 * changed back keeps its creation time, so the times of its changes count too.
 */
export function policySinceMs(found: readonly PolicyObject[], name: string): number {
  const objects = found.filter(({ metadata }) => metadata.name === name);
  return objects.length === 2 ? Math.max(...objects.map(unchangedSinceMs)) : Infinity;
}

function unchangedSinceMs({ metadata }: PolicyObject): number {
  const changes = (metadata.managedFields ?? []).filter(({ subresource }) => subresource === undefined);
  // A user who may change the object may also wipe its managedFields.
  if (changes.length === 0 && metadata.generation !== 1) return Infinity;
  const times = [metadata.creationTimestamp, ...changes.map(({ time = "" }) => time)].map((time) => Date.parse(time));
  return times.some(Number.isNaN) ? Infinity : Math.max(...times);
}

function find(found: readonly PolicyObject[], kind: string, name: string): PolicyObject | undefined {
  return found.find((object) => object.kind === kind && object.metadata.name === name);
}

function hashOf({ spec }: PolicyObject): string {
  try {
    return specHash(spec);
  } catch {
    // Ours can be hashed, so this is not ours.
    return "";
  }
}
