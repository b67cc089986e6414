import { objectOf, textOf } from "../../kube/client/json-fields.ts";
import type { PolicyKind, PolicyObject } from "../approve/policy-standing.ts";

const admission = "/apis/admissionregistration.k8s.io/v1";

/** The list path of each kind. */
export const policyPaths: Readonly<Record<PolicyKind, string>> = {
  ValidatingAdmissionPolicy: `${admission}/validatingadmissionpolicies`,
  ValidatingAdmissionPolicyBinding: `${admission}/validatingadmissionpolicybindings`,
};

/** The prefix of our names; a cluster may have hundreds of other policies. */
const ourPrefix = "levee-";

/** One of our policies or bindings with the name that a reflector finds it by. */
interface KeptPolicy {
  readonly namespace: "";
  readonly name: string;
  readonly policy: PolicyObject;
}

/** Items of a list do not carry their kind, so the caller gives it. */
export function projectPolicy(kind: PolicyKind): (value: unknown) => KeptPolicy | undefined {
  return (value) => {
    const metadata = objectOf(objectOf(value)["metadata"]);
    const name = textOf(metadata["name"]);
    if (!name.startsWith(ourPrefix)) return undefined;
    // `approve/` checks the fields that trust depends on: a field of a wrong type counts against the policy.
    const policy = { kind, metadata, spec: objectOf(value)["spec"] } as unknown as PolicyObject;
    return { namespace: "", name, policy };
  };
}
