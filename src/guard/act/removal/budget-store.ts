import type { KubeApi } from "../../../kube/client/api.ts";
import { GuardConfigMap } from "../guard-config-map.ts";
import { parseBudget, printBudget, type RemovalBudget } from "./removal-budget.ts";

/** A budget with the version that the next write must name. */
export interface StoredBudget {
  readonly budget: RemovalBudget;
  /** Undefined when there is no ConfigMap yet. */
  readonly resourceVersion: string | undefined;
}

/** Keeps the budget in the cluster, where it outlives leaders and people can read it. */
export class BudgetStore {
  readonly #map: GuardConfigMap;

  constructor(api: KubeApi, namespace: string) {
    this.#map = new GuardConfigMap(api, namespace, "removal-budget");
  }

  async read(): Promise<StoredBudget> {
    const { text, resourceVersion } = await this.#map.read();
    return { budget: parseBudget(text), resourceVersion };
  }

  /** The API server refuses the write if the ConfigMap has changed since it was read. */
  async write({ resourceVersion }: StoredBudget, budget: RemovalBudget): Promise<StoredBudget> {
    const written = await this.#map.write({ text: undefined, resourceVersion }, printBudget(budget));
    return { budget, resourceVersion: written.resourceVersion };
  }
}
