import { kubeStatusOf, type KubeApi } from "../../../kube/client/api.ts";
import { objectOf, textOf } from "../../../kube/client/json-fields.ts";
import { parseBudget, printBudget, type RemovalBudget } from "./removal-budget.ts";

/** The only ConfigMap that the guard's account may write. */
const configMap = "levee-guard";
const key = "removal-budget";
const requestMs = 10_000;

/** A budget with the version that the next write must name. */
export interface StoredBudget {
  readonly budget: RemovalBudget;
  /** Undefined when there is no ConfigMap yet. */
  readonly resourceVersion: string | undefined;
}

/** Keeps the budget in the cluster, where it outlives leaders and people can read it. */
export class BudgetStore {
  readonly #api: KubeApi;
  readonly #folder: string;
  readonly #namespace: string;

  constructor(api: KubeApi, namespace: string) {
    this.#api = api;
    this.#namespace = namespace;
    this.#folder = `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps`;
  }

  async read(): Promise<StoredBudget> {
    try {
      const path = `${this.#folder}/${configMap}`;
      const text = await this.#api.call({ method: "GET", path, deadlineMs: requestMs });
      const object: unknown = JSON.parse(text);
      const stored = objectOf(objectOf(object)["data"])[key];
      return {
        budget: parseBudget(typeof stored === "string" ? stored : undefined),
        resourceVersion: textOf(objectOf(objectOf(object)["metadata"])["resourceVersion"]),
      };
    } catch (thrown) {
      if (kubeStatusOf(thrown) === 404) return { budget: parseBudget(undefined), resourceVersion: undefined };
      throw thrown;
    }
  }

  /** The API server refuses the write if the ConfigMap has changed since it was read. */
  async write({ resourceVersion }: StoredBudget, budget: RemovalBudget): Promise<StoredBudget> {
    const data = { [key]: printBudget(budget) };
    const isNew = resourceVersion === undefined;
    const text = await this.#api.call({
      method: isNew ? "POST" : "PATCH",
      path: isNew ? this.#folder : `${this.#folder}/${configMap}`,
      body: JSON.stringify({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: configMap, namespace: this.#namespace, ...(isNew ? {} : { resourceVersion }) },
        data,
      }),
      ...(isNew ? {} : { contentType: "application/merge-patch+json" }),
      deadlineMs: requestMs,
    });
    const written: unknown = JSON.parse(text);
    return { budget, resourceVersion: textOf(objectOf(objectOf(written)["metadata"])["resourceVersion"]) };
  }
}
