import { readFile } from "node:fs/promises";
import { objectOf, textOf } from "../../../src/kube/client/json-fields.ts";
import { timeMs } from "../../../src/guard/json-values.ts";

const reads = ["get", "list", "watch"];

/** Every write of every account, with what was sent: whether a DELETE is only tried stands in its body. */
export const auditPolicy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived", "ResponseStarted"],
  rules: [{ level: "None", verbs: reads }, { level: "Request" }],
};

/** A request that would change something, as the API server itself wrote it down. */
export interface AuditedWrite {
  readonly user: string;
  readonly verb: string;
  /** With its subresource, as `decisions/status`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly code: number;
  /** Only tried: nothing was stored. */
  readonly isDryRun: boolean;
  /** What was sent. */
  readonly body: unknown;
  readonly atMs: number;
}

/** An account's writes and attempts, oldest first. */
export async function writesOf(auditFile: string, user: string): Promise<readonly AuditedWrite[]> {
  const lines = (await readFile(auditFile, "utf8")).split("\n").filter((line) => line.includes(user));
  return lines.map((line) => auditedWrite(JSON.parse(line))).filter((write) => write.user === user);
}

function auditedWrite(entry: unknown): AuditedWrite {
  const event = objectOf(entry);
  const reference = objectOf(event["objectRef"]);
  const subresource = textOf(reference["subresource"]);
  const body = event["requestObject"];
  const code = objectOf(event["responseStatus"])["code"];
  // The impersonated user is the one who acts.
  const user = textOf(objectOf(event["impersonatedUser"])["username"]) || textOf(objectOf(event["user"])["username"]);
  return {
    user,
    verb: textOf(event["verb"]),
    resource: `${textOf(reference["resource"])}${subresource === "" ? "" : `/${subresource}`}`,
    namespace: textOf(reference["namespace"]),
    name: textOf(reference["name"]),
    code: typeof code === "number" ? code : 0,
    isDryRun: textOf(event["requestURI"]).includes("dryRun=All") || Array.isArray(objectOf(body)["dryRun"]),
    body,
    atMs: timeMs(event["requestReceivedTimestamp"]),
  };
}
