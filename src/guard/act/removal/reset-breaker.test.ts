import { expect, test } from "bun:test";
import { silentLogger } from "../../../base/log.ts";
import type { KubeRequest } from "../../../kube/client/api.ts";
import { timeText } from "../../json-values.ts";
import { BudgetStore } from "./budget-store.ts";
import { GuardedServer } from "../guarded.fixture.ts";
import { emptyBudget } from "./removal-budget.ts";
import { resetWhenAsked } from "./reset-breaker.ts";

/** What is written when the breaker opened this long before the word. */
async function written(
  openedBeforeMs: number,
  change: (server: GuardedServer) => void = () => undefined,
): Promise<KubeRequest[]> {
  const server = new GuardedServer(["RemovePods"]);
  server.say("ResetBreaker");
  change(server);
  const nowMs = server.clock.wallMs();
  const openedMs = nowMs - openedBeforeMs;
  const budget = { ...emptyBudget, breaker: "too many", openedMs };
  const facts = {
    decisions: [server.decision],
    approvals: server.approvals,
    policies: server.policies,
    nowMs,
  };
  await resetWhenAsked(new BudgetStore(server, "levee-system"), { budget, resourceVersion: "5" }, facts, silentLogger);
  return server.written;
}

test("resetWhenAsked closes the breaker by a word that counts and came after it opened", async () => {
  const [write] = await written(2_000);
  expect(JSON.parse(write?.body ?? "{}")).toMatchObject({ metadata: { resourceVersion: "5" } });
  expect(write?.body).toContain('\\"breaker\\":\\"\\"');
  expect(await written(-1_000)).toEqual([]);
});

test("resetWhenAsked does not follow an old word, another verdict, or one that does not count", async () => {
  const word = (server: GuardedServer): number => server.approvals.length - 1;
  expect(await written(2_000, (server) => server.approvals.pop())).toEqual([]);
  expect(
    await written(
      2_000,
      (server) => (server.decision = { ...server.decision, metadata: { ...server.decision.metadata, uid: "other" } }),
    ),
  ).toEqual([]);
  const aged = (server: GuardedServer): void => {
    const old = server.approvals[word(server)]!;
    const creationTimestamp = timeText(server.clock.wallMs() - 16 * 60_000);
    server.approvals[word(server)] = { ...old, metadata: { ...old.metadata, creationTimestamp } };
  };
  expect(await written(3_600_000, aged)).toEqual([]);
});
