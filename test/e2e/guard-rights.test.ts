/** The guard with its own account on a real API server: its rights are enough, and its policies do not stand in its way. */
import { expect, test } from "bun:test";
import { systemClock, type Clock } from "../../src/base/clock.ts";
import { silentLogger, type Logger } from "../../src/base/log.ts";
import type { Decision } from "../../src/guard/decision/decision.ts";
import { defaultGuardSettings as settings } from "../../src/guard/facts/guard-settings.ts";
import { runGuard } from "../../src/guard/run-guard.ts";
import { fixedAccess } from "../../src/kube/access/access.ts";
import { ApiClient } from "../../src/kube/client/api-client.ts";
import { decisions, guardUser, makePod, startGuardServer } from "./guard/guard-server.ts";
import { type PolicyServer } from "./policy-server.ts";
import { needsServer } from "./needs-server.ts";
import { until } from "./until.ts";

const { group, beforeAll, afterAll } = needsServer("guard-rights");

/** Ten minutes ahead: pods that were made just now have waited long enough. */
const clock: Clock = { ...systemClock, wallMs: () => systemClock.wallMs() + 600_000 };

group("levee guard, as its own account", () => {
  let server: PolicyServer;
  const refusals: string[] = [];
  const logger: Logger = {
    ...silentLogger,
    warn(text, facts) {
      const line = `${text} ${JSON.stringify(facts)}`;
      if (/answered 403|forbidden/iu.test(line)) refusals.push(line);
    },
  };

  beforeAll(async () => {
    server = await startGuardServer();
    server.must(["create", "namespace", "fc"]);
    for (let index = 0; index < 25; index += 1) await makePod(server, { name: `rd-${index}`, node: "n1" });
  }, 120_000);

  afterAll(() => server.stop());

  /** Runs a guard while the test looks for something, and tells how the guard ended. */
  async function guarded<T>(identity: string, what: string, look: () => Promise<T | undefined>): Promise<T> {
    const token = server.must(["create", "token", "levee-guard", "-n", "levee-system"]).trim();
    const access = fixedAccess(server.url, { token, tls: { rejectUnauthorized: false } });
    const api = new ApiClient({ access, clock: systemClock });
    const stop = new AbortController();
    const ended = runGuard({ api, clock, logger, settings, identity }, stop.signal);
    try {
      return await Promise.race([until(what, look), ended.then(failEnded)]);
    } finally {
      stop.abort(new Error("told to"));
      await ended;
      api.close();
    }
  }

  async function proposed(fenceMin: number): Promise<readonly Decision[] | undefined> {
    const { text } = await server.ask({ method: "GET", path: decisions });
    const { items } = JSON.parse(text) as { items: readonly Decision[] }; // what the API server prints
    const isThere = items.length === 2 && items.every(({ status }) => (status?.fence ?? 0) >= fenceMin);
    return isThere ? items : undefined;
  }

  test("it leads, sees the avalanche, and writes both Decisions and their status, without one refusal", async () => {
    const made = await guarded("a", "both Decisions have a status", () => proposed(1));
    expect(made.map(({ spec }) => spec.purpose).toSorted()).toEqual(["Recover", "StopSource"]);
    expect(made.map(({ status }) => status?.phase)).toEqual(["Proposed", "Proposed"]);
    expect(refusals).toEqual([]);
  }, 90_000);

  test("a deleted Lease is made anew above the fence of the Decisions, and they go on", async () => {
    const path = `${decisions}/recover-fc-1/status`;
    const status = { phase: "Proposed", fence: 40, leader: "long-ago" };
    const patch = { method: "PATCH", path, body: { status }, type: "application/merge-patch+json" } as const;
    expect(await server.ask({ ...patch, as: { user: guardUser } })).toMatchObject({ code: 200 });
    server.must(["delete", "lease", "levee-guard", "-n", "levee-system"]);
    // The cause goes, so there is something to write.
    server.must(["delete", "pods", "--all", "-n", "fc", "--force", "--grace-period=0"]);
    await guarded("b", "both Decisions were written under the new fence", () => proposed(41));
    expect(refusals).toEqual([]);
  }, 90_000);
});

function failEnded(): never {
  throw new Error("the guard ended");
}
