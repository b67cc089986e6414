import { memoryParts } from "../../../src/guard/decide/memory-parts.ts";
import { defaultGuardSettings as settings } from "../../../src/guard/facts/guard-settings.ts";
import type { KubeRequest } from "../../../src/kube/client/api.ts";
import { needsServer, type ServerTests } from "../needs-server.ts";
import type { PolicyServer } from "../policy-server.ts";
import { until } from "../until.ts";
import { ActingGuard } from "./guard-acting.ts";
import { BrokenCni, daemonNodes, multusPath, prepareArgo } from "./guard-repairing.ts";
import { startGuardServer, untilPoliciesCount } from "./guard-server.ts";

interface RepairBench {
  readonly server: PolicyServer;
  readonly guard: ActingGuard;
  readonly cni: BrokenCni;
}

/** One server for all tests of a file, and for each a guard and a CNI daemon whose memory is too small. */
export function repairTests(file: string, onTest: (bench: RepairBench) => void): ServerTests {
  const tests = needsServer(file);
  let server: PolicyServer;
  let guard: ActingGuard;
  let cni: BrokenCni;
  tests.beforeAll(async () => {
    server = await startGuardServer();
    await prepareArgo(server);
    await untilPoliciesCount(server);
  }, 120_000);
  tests.afterAll(() => server.stop());
  tests.beforeEach(async () => {
    guard = new ActingGuard(server);
    cni = new BrokenCni(guard);
    onTest({ server, guard, cni });
    await until("everything is listed", () => (guard.facts.isCurrent() ? true : undefined));
    await cni.make();
  }, 60_000);
  tests.afterEach(async () => {
    cni.endDaemons();
    await guard.close();
  });
  return tests;
}

/** Calls this after each change of the daemon's memory, when the controller has replaced the pods. */
function rollOut({ guard, cni }: RepairBench, onRolledOut: () => void): void {
  guard.afterwards = async ({ method, path }: KubeRequest) => {
    if (method !== "PATCH" || path !== multusPath) return;
    onRolledOut();
    await cni.report({});
  };
}

/** Twenty pods wait, the daemon was killed, and an approved Decision raises its memory: 50Mi becomes 256Mi. */
export async function raise(bench: RepairBench, namespace: string, onRolledOut = (): void => undefined): Promise<void> {
  const { server, guard, cni } = bench;
  await guard.avalanche(namespace, 20);
  const parts = await until("the sum asks for 256Mi", () => {
    const found = memoryParts(settings.cniDaemons.slice(0, 1), guard.facts.world());
    return found.notes.some((note) => note.endsWith("256Mi")) ? found : undefined;
  });
  cni.hold();
  rollOut(bench, onRolledOut);
  const decision = await cni.decideOn([...parts.holds, ...parts.changes]);
  const phase = await guard.carryOut(decision);
  if (phase !== "Succeeded" || cni.limit() !== "256Mi") throw new Error(`It is ${phase} with ${cni.limit()}`);
  server.must(["-n", namespace, "delete", "pods", "--all", "--force", "--grace-period=0"]);
  await cni.runDaemons();
  await until("the watch has the daemons and no other pod", () => {
    const { pods, daemonSets } = guard.facts.world();
    const isMarked = daemonSets.some(({ memoryMarks }) => memoryMarks !== undefined);
    return isMarked && [...pods].length === daemonNodes.length ? true : undefined;
  });
}
