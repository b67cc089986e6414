import { expect, test } from "bun:test";
import { ConfigMapServer } from "../config-map-server.fixture.ts";
import { refusal } from "../guarded.fixture.ts";
import { BudgetStore } from "./budget-store.ts";
import { emptyBudget } from "./removal-budget.ts";

test("BudgetStore begins empty, keeps what was written, and leaves other keys alone", async () => {
  const server = new ConfigMapServer();
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
  const server = new ConfigMapServer();
  const store = new BudgetStore(server, "levee-system");
  const stale = await store.read();
  await store.write(stale, emptyBudget);
  const failure = await store.write(stale, emptyBudget).catch((thrown: unknown) => thrown);
  expect(failure).toMatchObject({ status: 409 });
});

test("BudgetStore treats a damaged entry as an open breaker, and passes errors on", async () => {
  const server = new ConfigMapServer();
  server.object = { metadata: { resourceVersion: "1" }, data: { "removal-budget": "{" } };
  const store = new BudgetStore(server, "levee-system");
  expect((await store.read()).budget.breaker).toBe("the record of earlier removals cannot be read");
  server.call = () => Promise.reject(refusal(403));
  expect(await store.read().catch((thrown: unknown) => thrown)).toMatchObject({ status: 403 });
});
