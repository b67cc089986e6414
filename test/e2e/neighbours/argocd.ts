/**
 * Levee beside a real Argo CD: its application-controller, repo-server and applicationset-controller with its own
 * definitions, accounts and rights, redis, and git over HTTP. Real too: etcd, kube-apiserver with RBAC and an audit log,
 * kube-controller-manager, the guards. Not real: kubelet and scheduler (guard/stand-in-kubelet.ts).
 */
import { expect, test } from "bun:test";
import { RealArgo } from "../beside/outage-argo.ts";
import { DecisionDesk } from "../guard/decision-desk.ts";
import { GuardReplicas } from "../guard/guard-process.ts";
import { missingForKubeControllers } from "../guard/kube-controllers.ts";
import { desktops, isWell, OutageCluster } from "../guard/outage-cluster.ts";
import { linesOf, typeLine } from "../guard/typed-line.ts";
import { cniDaemon } from "../guard/workloads.ts";
import { needsServer } from "../needs-server.ts";
import { say } from "../say.ts";
import { pause, until } from "../until.ts";

const { group, beforeAll, afterAll } = needsServer("argocd", missingForKubeControllers());

const longMs = 900_000;
const stop = `stop-${desktops}-1`;
const recover = `recover-${desktops}-1`;
/** In two minutes the CNI daemons are killed often enough to tell a crash loop from a bad start. */
const guardOptions = ["--stuck-after", "120"];
/** A self-heal begins after five seconds. */
const threeSelfHealsMs = 15_000;
const daemonSet = ["-n", cniDaemon.namespace, "daemonset", cniDaemon.name];

let cluster: OutageCluster<RealArgo>;
let desk: DecisionDesk;
let guards: GuardReplicas;

function limit(): string {
  const path = "jsonpath={.spec.template.spec.containers[0].resources.limits.memory}";
  return cluster.server.must(["get", ...daemonSet, "-o", path]);
}

/** As a person would. */
function setLimit(value: string): void {
  cluster.server.must([
    "set",
    "resources",
    ...daemonSet,
    "-c",
    cniDaemon.container,
    `--limits=memory=${value}`,
    "--requests=memory=50Mi",
  ]);
}

async function untilLimit(value: string): Promise<number> {
  const beganMs = performance.now();
  await until(`the limit is ${value}`, () => limit() === value || undefined);
  return Math.round((performance.now() - beganMs) / 1000);
}

/** How often Argo CD has written the DaemonSet. */
async function writes(): Promise<number> {
  return (await cluster.argo.argo.deeds()).filter(({ resource }) => resource === "daemonsets").length;
}

group("the guard's lock in git and Argo CD's self-heal", () => {
  beforeAll(async () => {
    cluster = await OutageCluster.start((place) => new RealArgo(place));
    desk = new DecisionDesk(cluster.server);
    const repository = `${cluster.argo.url},branch=main,path=apps`;
    const options = [...guardOptions, "--git-repository", repository];
    guards = await GuardReplicas.make(cluster.server, cluster.folder, options);
  }, longMs);

  afterAll(async () => {
    await guards.stop();
    await cluster.stop();
  }, longMs);

  test(
    "a limit that is raised in the cluster alone is put back",
    async () => {
      const before = await writes();
      setLimit("1Gi");
      say(`Argo CD has put the old limit back after ${await untilLimit("50Mi")} s`);
      expect(await writes()).toBeGreaterThan(before);
      await cluster.untilSymptoms("the old limit is rolled out", isWell);
    },
    longMs,
  );

  test(
    "in the outage every Application turns Unknown, and the guard proposes to hold, to raise and to lock",
    async () => {
      await cluster.breakDown();
      guards.start();
      const actions = [
        "HoldArgoApp",
        "RemovePods",
        "SetMemoryLimit",
        "LockToGit",
        "ListStuck",
        "RestartWorkload",
        "Verify",
      ];
      // The plan follows the facts: workloads that hang because of the outage are found a little later.
      const { spec } = await until(
        "the guard proposes all of it",
        async () => {
          const decision = await desk.one(recover);
          const proposed = [...new Set(decision.spec.steps.map(({ action }) => action as string))];
          if (proposed.join(" ") === actions.join(" ")) return decision;
          throw new Error(`it proposes ${proposed.join(", ")}`);
        },
        { timeoutMs: 300_000 },
      );
      expect(spec.chain.some(({ effect }) => effect.includes("5 of 5 Argo CD Applications are Unknown"))).toBe(true);
    },
    longMs,
  );

  test(
    "held by the line of the plan, the raised limit stays although git still has the old one",
    async () => {
      await desk.say(stop, "Approve");
      await desk.untilPhase(stop, "Succeeded", 180_000);
      await desk.say(recover, "Approve");
      const waiting = await desk.until(recover, "waits for the hold", ({ status }) => linesOf(status).length > 0);
      typeLine(cluster.server, linesOf(waiting.status)[0] ?? "");
      const before = await writes();
      await desk.untilPhase(recover, "Succeeded", 420_000);
      await until("Argo CD sees the difference", async () => {
        const { sync } = await cluster.argo.argo.application("multus");
        return sync === "OutOfSync" || undefined;
      });
      await pause(threeSelfHealsMs);
      expect(limit()).toBe("1Gi");
      expect(await writes()).toBe(before);
    },
    longMs,
  );

  test(
    "once the guard's commit is merged and the hold has ended, self-heal keeps the raised limit and puts it back",
    async () => {
      const { repository, argo, server } = cluster;
      repository.git("update-ref", "refs/heads/main", `refs/heads/levee/${recover}`);
      const patch = JSON.stringify([{ op: "remove", path: "/spec/syncWindows" }]);
      server.must(["-n", "argocd", "patch", "appproject", "default", "--type=json", "-p", patch]);
      const merged = repository.git("rev-parse", "main").trim();
      await until("Argo CD has compared with the merged commit", async () => {
        const state = await argo.argo.application("multus");
        if (state.sync === "Synced" && state.revision === merged) return true;
        throw new Error(JSON.stringify(state));
      });
      await pause(threeSelfHealsMs);
      expect(limit()).toBe("1Gi");
      setLimit("50Mi");
      say(`Argo CD has put the raised limit back after ${await untilLimit("1Gi")} s`);
    },
    longMs,
  );
});
