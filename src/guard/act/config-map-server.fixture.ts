import { KubeError, type KubeApi, type KubeRequest } from "../../kube/client/api.ts";

interface Sent {
  readonly metadata?: { readonly resourceVersion?: string };
  readonly data: Readonly<Record<string, string>>;
}

/** An API server with one ConfigMap and its versions. */
export class ConfigMapServer implements KubeApi {
  object: { metadata: { resourceVersion: string }; data: Record<string, string> } | undefined;

  async call({ method, body }: KubeRequest): Promise<string> {
    await Promise.resolve();
    if (method !== "GET") this.#write(method, JSON.parse(body ?? "{}") as Sent);
    if (this.object === undefined) throw refusal(404);
    return JSON.stringify(this.object);
  }

  #write(method: string, { metadata, data }: Sent): void {
    const version = this.object?.metadata.resourceVersion;
    if ((method === "POST" ? undefined : metadata?.resourceVersion) !== version) throw refusal(409);
    this.object = {
      metadata: { resourceVersion: String(Number(version ?? 0) + 1) },
      data: { ...this.object?.data, ...data },
    };
  }

  lines(): AsyncIterable<string> {
    throw new Error("no test watches");
  }
}

function refusal(status: number): KubeError {
  return new KubeError("api-refused", String(status), { status });
}
