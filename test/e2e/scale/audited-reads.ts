import { readFile } from "node:fs/promises";
import { objectOf, textOf } from "../../../src/kube/client/json-fields.ts";

/** Every request of one user, when it came and how it was answered, without bodies. */
export function readsPolicy(user: string): object {
  return {
    apiVersion: "audit.k8s.io/v1",
    kind: "Policy",
    omitStages: ["ResponseStarted"],
    rules: [{ level: "Metadata", users: [user] }, { level: "None" }],
  };
}

export interface AuditedRead {
  /** A watch that begins with the list counts as a list, too: the server sends all objects. */
  readonly kind: "list" | "watch" | "streamed list" | "other";
  readonly resource: string;
  /** When it came, in milliseconds since 1970. */
  readonly atMs: number;
  /** Undefined for one that goes on. */
  readonly code: number | undefined;
}

export async function auditedReads(auditFile: string, sinceMs: number): Promise<readonly AuditedRead[]> {
  const reads = new Map<string, AuditedRead>();
  for (const line of (await readFile(auditFile, "utf8")).split("\n")) {
    if (line === "") continue;
    const event = objectOf(JSON.parse(line));
    const atMs = Date.parse(textOf(event["requestReceivedTimestamp"]));
    if (atMs < sinceMs) continue;
    const code = objectOf(event["responseStatus"])["code"];
    const isStreamed = textOf(event["requestURI"]).includes("sendInitialEvents=true");
    reads.set(textOf(event["auditID"]), {
      kind: isStreamed ? "streamed list" : kindOf(textOf(event["verb"])),
      resource: textOf(objectOf(event["objectRef"])["resource"]),
      atMs,
      code: typeof code === "number" ? code : undefined,
    });
  }
  return [...reads.values()];
}

function kindOf(verb: string): AuditedRead["kind"] {
  return verb === "list" || verb === "watch" ? verb : "other";
}

/** The most that came within one second, wherever that begins. */
export function mostInASecond(reads: readonly AuditedRead[]): number {
  const times = reads.map(({ atMs }) => atMs).toSorted((one, other) => one - other);
  let most = 0;
  let first = 0;
  for (const [at, ms] of times.entries()) {
    while ((times[first] ?? ms) <= ms - 1_000) first += 1;
    most = Math.max(most, at - first + 1);
  }
  return most;
}
