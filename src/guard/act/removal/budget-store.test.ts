import { expect, test } from "bun:test";
import { KubeError, type KubeApi, type KubeRequest } from "../../../kube/client/api.ts";
import { BudgetStore } from "./budget-store.ts";
import { emptyBudget } from "./removal-budget.ts";

interface Sent {
  readonly metadata?: { readonly resourceVersion?: string };
  readonly data: Readonly<Record<string, string>>;
}

/** An API server with one ConfigMap and its versions. */
class Server implements KubeApi {
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

test("BudgetStore begins empty, keeps what was written, and leaves other keys alone", async () => {
  const server = new Server();
  const store = new BudgetStore(server, "levee-system");
  const first = await store.read();
  expect(first).toEqual({ budget: emptyBudget, resourceVersion: undefined });
  await store.write(first, { ...emptyBudget, breaker: "too many" });
  server.object!.data["other"] = "kept";
  const second = await store.read();
  expect(second.budget.breaker).toBe("too many");
  await store.write(second, emptyBudget);
  expect(server.object?.data["other"]).toBe("kept");
  expect((await store.read()).budget).toEqual(emptyBudget);
});

test("BudgetStore does not overwrite another leader's write", async () => {
  const server = new Server();
  const store = new BudgetStore(server, "levee-system");
  const stale = await store.read();
  await store.write(stale, emptyBudget);
  const failure = await store.write(stale, emptyBudget).catch((thrown: unknown) => thrown);
  expect(failure).toMatchObject({ status: 409 });
});

test("BudgetStore treats a damaged entry as an open breaker, and passes errors on", async () => {
  const server = new Server();
  server.object = { metadata: { resourceVersion: "1" }, data: { "removal-budget": "{" } };
  const store = new BudgetStore(server, "levee-system");
  expect((await store.read()).budget.breaker).toBe("the record of earlier removals cannot be read");
  server.call = () => Promise.reject(refusal(403));
  expect(await store.read().catch((thrown: unknown) => thrown)).toMatchObject({ status: 403 });
});
