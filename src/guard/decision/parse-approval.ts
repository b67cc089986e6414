import { objectOf, textOf } from "../../kube/client/json-fields.ts";
import { decisionApiVersion, verdicts, type DecisionApproval } from "./decision.ts";

/** Undefined without a name or a known verdict. `approve/` decides whether it counts. */
export function parseApproval(value: unknown): DecisionApproval | undefined {
  const metadata = objectOf(objectOf(value)["metadata"]);
  const spec = objectOf(objectOf(value)["spec"]);
  const by = objectOf(spec["by"]);
  const verdict = verdicts.find((one) => one === spec["verdict"]);
  if (textOf(metadata["name"]) === "" || verdict === undefined) return undefined;
  return {
    apiVersion: decisionApiVersion,
    kind: "DecisionApproval",
    metadata: {
      name: textOf(metadata["name"]),
      namespace: textOf(metadata["namespace"]),
      uid: textOf(metadata["uid"]),
      resourceVersion: textOf(metadata["resourceVersion"]),
      creationTimestamp: textOf(metadata["creationTimestamp"]),
      ...(textOf(metadata["deletionTimestamp"]) === ""
        ? {}
        : { deletionTimestamp: textOf(metadata["deletionTimestamp"]) }),
    },
    spec: {
      decision: textOf(spec["decision"]),
      decisionUID: textOf(spec["decisionUID"]),
      planHash: textOf(spec["planHash"]),
      verdict,
      ...(textOf(spec["reason"]) === "" ? {} : { reason: textOf(spec["reason"]) }),
      by: { username: textOf(by["username"]) },
    },
  };
}
