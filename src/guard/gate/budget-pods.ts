import type { Clock } from "../../base/clock.ts";
import { metadataOnly, type KubeApi } from "../../kube/client/api.ts";
import { objectOf, textOf } from "../../kube/client/json-fields.ts";
import { objectsOf } from "../json-values.ts";
import type { BudgetFacts } from "./project-storage.ts";

const requestMs = 5_000;
/** The pods of a budget change rarely. */
const keptMs = 60_000;
/** Asked per look; a cluster with more shut budgets than this has other troubles first. */
const askedPerLookMax = 20;
/** More pods than one budget covers in practice. */
const podsMax = 500;

interface Asked {
  readonly selector: string;
  readonly atMs: number;
  /** Undefined: more than one answer holds. */
  readonly pods: readonly string[] | undefined;
}

/**
 * Which pods the shut budgets cover. The API server is asked, because the guard's copy of 50,000 pods has no labels:
 * budgets that allow nothing are few.
 */
export class BudgetPods {
  readonly #api: KubeApi;
  readonly #clock: Clock;
  #asked = new Map<string, Asked>();

  constructor({ api, clock }: { readonly api: KubeApi; readonly clock: Clock }) {
    this.#api = api;
    this.#clock = clock;
  }

  /**
   * The names of the pods by budget (`namespace/name`), for those that are known. Rejects when the API server does not
   * answer.
   */
  async podsOf(budgets: readonly BudgetFacts[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const nowMs = this.#clock.monotonicMs();
    const next = new Map<string, Asked>();
    let asked = 0;
    for (const budget of budgets) {
      const key = `${budget.namespace}/${budget.name}`;
      const known = this.#asked.get(key);
      const isKnown = known !== undefined && known.selector === budget.selector && nowMs - known.atMs < keptMs;
      if (isKnown || asked >= askedPerLookMax) {
        if (known !== undefined) next.set(key, known);
        continue;
      }
      asked += 1;
      next.set(key, { selector: budget.selector, atMs: nowMs, pods: await this.#ask(budget) });
    }
    this.#asked = next;
    return new Map([...next].flatMap(([key, { pods }]) => (pods === undefined ? [] : [[key, pods] as const])));
  }

  async #ask({ namespace, selector }: BudgetFacts): Promise<readonly string[] | undefined> {
    const query = new URLSearchParams({
      limit: String(podsMax),
      ...(selector === "" ? {} : { labelSelector: selector }),
    });
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods?${query.toString()}`;
    const accept = metadataOnly.replaceAll("PartialObjectMetadata", "PartialObjectMetadataList");
    const list: unknown = JSON.parse(await this.#api.call({ method: "GET", path, accept, deadlineMs: requestMs }));
    if (textOf(objectOf(objectOf(list)["metadata"])["continue"]) !== "") return undefined;
    return objectsOf(objectOf(list)["items"]).map((item) => textOf(objectOf(item["metadata"])["name"]));
  }
}
