/** The health check of NetworkReadiness for Argo CD. */
import { expect, test } from "bun:test";
import { judgeReadiness } from "../../src/guard/readiness/judge-readiness.ts";
import { renewedStatus, type ReadinessStatus } from "../../src/guard/readiness/readiness-object.ts";
import { argoHealth } from "./argo-lua.ts";

function statusAt(nowMs: number, state: "ready" | "not-ready"): ReadinessStatus {
  const word = { network: "shop/lan", state, reasons: ["missing host bridge br-prod"], mark: "m" };
  const verdict = judgeReadiness({ mark: "m", nodes: [{ name: "worker-1" }], wordOf: () => word });
  const status = renewedStatus({ status: undefined, generation: 2 }, verdict, nowMs);
  if (status === undefined) throw new Error("There is no status");
  return status;
}

const metadata = { name: "lan", namespace: "shop", generation: 2 };

test("is Healthy only while a fresh verdict about this version says that the network is ready", () => {
  const nowMs = Date.now();
  expect(argoHealth({ metadata, status: statusAt(nowMs, "ready") })).toEqual({
    status: "Healthy",
    message: "ready on 1 of 1 nodes",
  });
  expect(argoHealth({ metadata, status: statusAt(nowMs, "not-ready") })).toEqual({
    status: "Progressing",
    message: "ready on 0 of 1 nodes; worker-1: missing host bridge br-prod",
  });
});

test("waits without a status, with one about an older version, and with one that has expired", () => {
  const nowMs = Date.now();
  expect(argoHealth({ metadata }).status).toBe("Progressing");
  expect(argoHealth({ metadata, status: {} }).status).toBe("Progressing");
  expect(argoHealth({ metadata: { ...metadata, generation: 3 }, status: statusAt(nowMs, "ready") })).toEqual({
    status: "Progressing",
    message: "The guard has not looked at this version yet",
  });
  const expired = argoHealth({ metadata, status: statusAt(nowMs - 301_000, "ready") });
  expect(expired.status).toBe("Progressing");
  expect(expired.message).toStartWith("The guard has not looked since 20");
});
