import type { Decision, DecisionPhase, Verdict } from "../../../src/guard/decision/decision.ts";
import { parseDecision } from "../../../src/guard/decision/parse-decision.ts";
import { objectOf } from "../../../src/kube/client/json-fields.ts";
import { objectsOf } from "../../../src/guard/json-values.ts";
import { alice, approvals, decisions, guardUser } from "./guard-server.ts";
import type { Answer, Ask, PolicyServer } from "../policy-server.ts";
import { until } from "../until.ts";
import { writesOf, type AuditedWrite } from "./audit.ts";

/** How a verdict differs from a person's ordinary one. */
export interface OddWord {
  readonly planHash?: string;
  /** The user who asks; alice by default. */
  readonly as?: Ask["as"];
  /** By a token of its own instead. */
  readonly token?: string;
  /** The author that the approval names. */
  readonly username?: string;
}

/** Where a person reads Decisions and says yes or no, and where it can be read what the guard has written. */
export class DecisionDesk {
  readonly #server: PolicyServer;
  #words = 0;

  constructor(server: PolicyServer) {
    this.#server = server;
  }

  async all(): Promise<readonly Decision[]> {
    const { code, text } = await this.#server.ask({ method: "GET", path: decisions });
    if (code !== 200) throw new Error(`Decisions cannot be listed: ${code} ${text}`);
    return objectsOf(objectOf(JSON.parse(text))["items"])
      .map(parseDecision)
      .filter((decision) => decision !== undefined);
  }

  async one(name: string): Promise<Decision> {
    const found = (await this.all()).find(({ metadata }) => metadata.name === name);
    if (found === undefined) throw new Error(`There is no Decision ${name}`);
    return found;
  }

  /** A person's word on the plan as it stands, which the API server must take. */
  async say(name: string, verdict: Verdict): Promise<void> {
    const { code, text } = await this.try(name, verdict);
    if (code !== 201) throw new Error(`${verdict} ${name} was refused: ${text}`);
  }

  async try(name: string, verdict: Verdict, odd: OddWord = {}): Promise<Answer> {
    const { metadata, spec } = await this.one(name);
    this.#words += 1;
    const body = {
      apiVersion: "levee.dev/v1alpha1",
      kind: "DecisionApproval",
      metadata: { name: `word-${this.#words}`, namespace: "levee-system" },
      spec: {
        decision: name,
        decisionUID: metadata.uid,
        planHash: odd.planHash ?? spec.planHash,
        verdict,
        by: { username: odd.username ?? alice.user },
      },
    };
    const who = odd.token === undefined ? { as: odd.as ?? alice } : { token: odd.token };
    return this.#server.ask({ method: "POST", path: approvals, body, ...who });
  }

  /** One in another phase that is not left by itself is not waited for. */
  untilPhase(name: string, phase: DecisionPhase, timeoutMs = 60_000): Promise<Decision> {
    return this.until(name, `is ${phase}`, ({ status }) => status?.phase === phase, timeoutMs);
  }

  until(name: string, what: string, isSo: (decision: Decision) => boolean, timeoutMs = 60_000): Promise<Decision> {
    const look = async (): Promise<Decision> => {
      const decision = await this.one(name);
      if (isSo(decision)) return decision;
      const { phase, step = "", message } = decision.status ?? { phase: "none", message: "" };
      throw new Error(`it is ${phase} ${step}: ${message}`);
    };
    return until(`${name} ${what}`, look, { timeoutMs, everyMs: 250 });
  }

  guardWrites(): Promise<readonly AuditedWrite[]> {
    return writesOf(this.#server.auditFile, guardUser);
  }

  /** Changes by the guard beyond its own records. Each of them must have been approved. */
  async guardDeeds(): Promise<readonly AuditedWrite[]> {
    return (await this.guardWrites()).filter((write) => !isOwnRecord(write) && !write.isDryRun && write.code < 300);
  }
}

/** A write as one line, for lists and errors. */
export function writeText({ verb, resource, namespace, name }: AuditedWrite): string {
  return `${verb} ${resource} ${namespace}/${name}`;
}

const ownResources: ReadonlySet<string> = new Set(["decisions", "decisions/status", "leases", "configmaps", "events"]);

function isOwnRecord({ resource, namespace }: AuditedWrite): boolean {
  // A question about its own rights: the API server answers, and stores nothing.
  if (resource === "selfsubjectaccessreviews") return true;
  return namespace === "levee-system" && ownResources.has(resource);
}
