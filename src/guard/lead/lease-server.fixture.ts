import { KubeError, type KubeApi, type KubeRequest } from "../../kube/client/api.ts";
import { objectOf, textOf } from "../../kube/client/json-fields.ts";

/** An API server with one Lease that reports conflicts like the real one. */
export class LeaseServer implements KubeApi {
  lease: Record<string, unknown> | undefined;
  writes = 0;
  /** Thrown by every call while it is set. */
  trouble: Error | undefined;

  async call({ method, body }: KubeRequest): Promise<string> {
    await Promise.resolve();
    if (this.trouble !== undefined) throw this.trouble;
    if (method === "GET" && this.lease === undefined) throw refusal(404);
    if (method === "GET") return JSON.stringify(this.lease);
    const written = JSON.parse(body ?? "{}") as Record<string, unknown>;
    const version = objectOf(written["metadata"])["resourceVersion"];
    const current = objectOf(this.lease?.["metadata"])["resourceVersion"];
    if (version !== current) throw refusal(409);
    this.writes += 1;
    this.lease = { ...written, metadata: { resourceVersion: String(this.writes) } };
    return JSON.stringify(this.lease);
  }

  // eslint-disable-next-line require-yield -- no test watches a Lease
  async *lines(): AsyncGenerator<string> {
    await Promise.reject(new Error("no test watches a Lease"));
  }

  get holder(): string {
    return textOf(objectOf(this.lease?.["spec"])["holderIdentity"]);
  }

  get transitions(): unknown {
    return objectOf(this.lease?.["spec"])["leaseTransitions"];
  }
}

function refusal(status: number): KubeError {
  return new KubeError("api-refused", String(status), { status });
}
