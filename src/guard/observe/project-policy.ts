import { objectOf, textOf } from "../../kube/client/json-fields.ts";
import type { PolicyKind, PolicyObject } from "../approve/policy-standing.ts";

const admission = "/apis/admissionregistration.k8s.io/v1";

/** Where each kind is listed. */
export const policyPaths: Readonly<Record<PolicyKind, string>> = {
  ValidatingAdmissionPolicy: `${admission}/validatingadmissionpolicies`,
  ValidatingAdmissionPolicyBinding: `${admission}/validatingadmissionpolicybindings`,
};

/** Ours begin with this; a cluster may have hundreds of others. */
const ourPrefix = "levee-";

/** A policy or binding of ours with what a reflector finds it by. */
interface KeptPolicy {
  readonly namespace: "";
  readonly name: string;
  readonly policy: PolicyObject;
}

/** Items of a list do not say what kind they are, so that is given. */
export function projectPolicy(kind: PolicyKind): (value: unknown) => KeptPolicy | undefined {
  return (value) => {
    const metadata = objectOf(objectOf(value)["metadata"]);
    const name = textOf(metadata["name"]);
    if (!name.startsWith(ourPrefix)) return undefined;
    // What decides about trust is looked at where it is used: a field of a wrong kind counts against the policy there.
    const policy = { kind, metadata, spec: objectOf(value)["spec"] } as unknown as PolicyObject;
    return { namespace: "", name, policy };
  };
}
