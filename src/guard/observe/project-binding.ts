import { objectOf, textOf } from "../../kube/json-fields.ts";
import { stopLabel } from "../decide/stop-step.ts";

/** The policy that asks for owners (`deploy/policies/ownerless-pods.yaml`), and the binding that denies by the label. */
export const ownerPolicy = "levee-pods-need-a-controller-owner";

/** A binding of an admission policy, as far as it may be ours. */
export interface BindingFacts {
  readonly namespace: "";
  readonly name: string;
  readonly policy: string;
  /** It denies where a namespace has our label, and says nothing more about where. */
  readonly deniesByLabel: boolean;
}

export function projectBinding(value: unknown): BindingFacts | undefined {
  const name = textOf(objectOf(objectOf(value)["metadata"])["name"]);
  if (name === "") return undefined;
  const spec = objectOf(objectOf(value)["spec"]);
  const actions = spec["validationActions"];
  return {
    namespace: "",
    name,
    policy: textOf(spec["policyName"]),
    deniesByLabel: Array.isArray(actions) && actions.includes("Deny") && selectsByLabelOnly(spec["matchResources"]),
  };
}

/** A further condition could leave out the very pods that are meant. */
function selectsByLabelOnly(matchResources: unknown): boolean {
  const match = objectOf(matchResources);
  const selector = objectOf(match["namespaceSelector"]);
  const labels = objectOf(selector["matchLabels"]);
  return (
    labels[stopLabel.key] === stopLabel.value &&
    Object.keys(labels).length === 1 &&
    Object.keys(selector).length === 1 &&
    isEmptySelector(match["objectSelector"]) &&
    match["resourceRules"] === undefined &&
    match["excludeResourceRules"] === undefined
  );
}

/** The API server writes an empty one where none was given. */
function isEmptySelector(selector: unknown): boolean {
  return Object.keys(objectOf(selector)).length === 0;
}
