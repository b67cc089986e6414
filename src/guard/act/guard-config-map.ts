import { kubeStatusOf, type KubeApi } from "../../kube/client/api.ts";
import { objectOf, textOf } from "../../kube/client/json-fields.ts";

/** The only ConfigMap that the guard's account may write. */
const configMap = "levee-guard";
const requestMs = 10_000;

/** One key of the ConfigMap with the version that the next write must name. */
export interface StoredText {
  /** Undefined when the key is absent or not a text. */
  readonly text: string | undefined;
  /** Undefined when there is no ConfigMap yet. */
  readonly resourceVersion: string | undefined;
}

/** What the guard keeps in the cluster, where it outlives leaders and people can read it: a text for each key. */
export class GuardConfigMap {
  readonly #api: KubeApi;
  readonly #folder: string;
  readonly #namespace: string;
  readonly #key: string;

  constructor(api: KubeApi, namespace: string, key: string) {
    this.#api = api;
    this.#namespace = namespace;
    this.#key = key;
    this.#folder = `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps`;
  }

  async read(): Promise<StoredText> {
    try {
      const path = `${this.#folder}/${configMap}`;
      const answer = await this.#api.call({ method: "GET", path, deadlineMs: requestMs });
      const object: unknown = JSON.parse(answer);
      const stored = objectOf(objectOf(object)["data"])[this.#key];
      return { text: typeof stored === "string" ? stored : undefined, resourceVersion: versionOf(object) };
    } catch (thrown) {
      if (kubeStatusOf(thrown) === 404) return { text: undefined, resourceVersion: undefined };
      throw thrown;
    }
  }

  /** Other keys stay. The API server refuses the write if the ConfigMap has changed since it was read. */
  async write({ resourceVersion }: StoredText, text: string): Promise<StoredText> {
    const isNew = resourceVersion === undefined;
    const answer = await this.#api.call({
      method: isNew ? "POST" : "PATCH",
      path: isNew ? this.#folder : `${this.#folder}/${configMap}`,
      body: JSON.stringify({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: configMap, namespace: this.#namespace, ...(isNew ? {} : { resourceVersion }) },
        data: { [this.#key]: text },
      }),
      ...(isNew ? {} : { contentType: "application/merge-patch+json" }),
      deadlineMs: requestMs,
    });
    return { text, resourceVersion: versionOf(JSON.parse(answer)) };
  }
}

function versionOf(object: unknown): string {
  return textOf(objectOf(objectOf(object)["metadata"])["resourceVersion"]);
}
