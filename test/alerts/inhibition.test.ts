/** The shipped inhibition rules in a real Alertmanager: one cause, one page, and never another cluster's. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { parse } from "yaml";
import { alertNames } from "../../scripts/deploy/alerts.ts";
import { Alertmanager, until, type Labels } from "./alertmanager.ts";

interface InhibitRule {
  readonly source_matchers: readonly string[];
  readonly target_matchers: readonly string[];
  readonly equal: readonly string[];
}

const deploy = join(import.meta.dir, "../../deploy/alerts");
const { inhibit_rules: shipped } = parse(readFileSync(join(deploy, "alertmanager-inhibit.yaml"), "utf8")) as {
  inhibit_rules: readonly InhibitRule[]; // our own file, which Alertmanager reads too
};
const ours = alertNames(readFileSync(join(deploy, "levee.rules.yaml"), "utf8"));

function start(rules: readonly InhibitRule[]): Promise<Alertmanager> {
  return Alertmanager.start({ route: { receiver: "nobody" }, receivers: [{ name: "nobody" }], inhibit_rules: rules });
}

/** Alertmanager applies inhibitions a moment after the alerts: this many looks, 50 ms apart, have to agree. */
const steadyLooks = 8;

/** Which of the alerts come through, once Alertmanager has them all and has made up its mind. */
async function heard(rules: readonly InhibitRule[], alerts: readonly Labels[]): Promise<readonly string[]> {
  await using manager = await start(rules);
  await manager.post(alerts);
  let [before, times] = ["", 0];
  const through = await until("Alertmanager has all alerts and stays with its answer", async () => {
    const all = await manager.alerts();
    const free = all.filter(({ status }) => status.inhibitedBy.length === 0).map(({ labels }) => short(labels));
    const now = `${all.length} ${free.toSorted().join("\n")}`;
    times = now === before ? times + 1 : 0;
    before = now;
    return all.length === alerts.length && times >= steadyLooks ? free.toSorted() : undefined;
  });
  return through;
}

/** `cluster/alertname` and what tells it from others of its name. */
function short({ cluster = "", alertname = "", severity = "", namespace, node, job }: Labels): string {
  return [`${cluster}/${alertname}`, severity, namespace, node, job].filter((word) => word).join(" ");
}

const daemon = { namespace: "kube-system", pod: "kube-multus-ds-agent1", container: "kube-multus" };
const desktop = { namespace: "fc-desktop" };

/** The alerts of the outage, in one cluster. */
function outage(cluster: string): readonly Labels[] {
  const alert = (alertname: string, severity: string, labels: Labels = {}): Labels => ({
    alertname,
    severity,
    cluster,
    ...labels,
  });
  return [
    alert("MultusOOMLoop", "critical", { ...daemon, node: "agent1", scope: "node" }),
    alert("MultusOOMLoop", "critical", { scope: "cluster" }),
    alert("MultusMemoryPressure", "warning", daemon),
    alert("KubePodCrashLooping", "warning", daemon),
    alert("NamespacePendingPodBacklog", "critical", desktop),
    alert("NamespacePendingPodBacklog", "warning", desktop),
    alert("CniAddErrorRate", "critical", { node: "agent1", source: "kubelet" }),
    alert("CniAddErrorRate", "critical", { node: "agent1", source: "levee" }),
    alert("ArgoCDAppsUnknown", "warning"),
    ...Array.from({ length: 30 }, (_, index) =>
      alert("KubePodNotReady", "warning", { ...desktop, pod: `rd-${index}` }),
    ),
    alert("KubeContainerWaiting", "warning", { namespace: "longhorn-system", pod: "csi-attacher" }),
    alert("KubeDeploymentReplicasMismatch", "warning", { namespace: "traefik" }),
    alert("OwnerlessPods", "warning", desktop),
    alert("OwnerlessPodsGrowing", "warning", desktop),
    alert("LeveeDecisionWaiting", "warning"),
    alert("TargetDown", "warning", { namespace: "shop", job: "shop" }),
    alert("KubeNodeNotReady", "warning", { node: "agent2" }),
  ];
}

describe("alertmanager-inhibit.yaml", () => {
  test("leaves of an outage one page, the likely cause, and what follows from nothing of ours", async () => {
    expect(await heard(shipped, outage("a"))).toEqual([
      "a/KubeNodeNotReady warning agent2",
      "a/LeveeDecisionWaiting warning",
      "a/MultusOOMLoop critical",
      "a/OwnerlessPods warning fc-desktop",
      "a/TargetDown warning shop shop",
    ]);
  }, 60_000);

  test("leaves a second cluster's alerts alone, of the same names and labels", async () => {
    const other = outage("b").filter(
      ({ alertname = "" }) =>
        !/^(?:MultusOOMLoop|OwnerlessPods|NamespacePending.*)$/u.test(alertname) && alertname !== "CniAddErrorRate",
    );
    const through = (await heard(shipped, [...outage("a"), ...other])).filter((each) => each.startsWith("b/"));
    expect(through).toEqual(other.map(short).toSorted());
  }, 60_000);

  test("a loop on one node of many stands for what fails there, and not on a second node or anywhere else", async () => {
    const alert = (alertname: string, labels: Labels): Labels => ({ alertname, severity: "critical", ...labels });
    const failing = (cluster: string, node: string): Labels =>
      alert("CniAddErrorRate", { cluster, node, source: "kubelet" });
    const alerts = [
      alert("MultusOOMLoop", { cluster: "a", ...daemon, node: "agent1", scope: "node" }),
      ...["a", "b"].flatMap((cluster) => [failing(cluster, "agent1"), failing(cluster, "agent2")]),
      alert("CniAddErrorRate", { cluster: "a", source: "levee", instance: "10.0.0.3:9810" }),
      alert("KubeDeploymentReplicasMismatch", { cluster: "a", namespace: "shop" }),
      alert("ArgoCDAppsUnknown", { cluster: "a" }),
    ];
    expect(await heard(shipped, alerts)).toEqual([
      "a/ArgoCDAppsUnknown critical",
      "a/CniAddErrorRate critical",
      "a/CniAddErrorRate critical agent2",
      "a/KubeDeploymentReplicasMismatch critical shop",
      "a/MultusOOMLoop critical kube-system agent1",
      "b/CniAddErrorRate critical agent1",
      "b/CniAddErrorRate critical agent2",
    ]);
    const loose = shipped.map((rule) => ({ ...rule, equal: rule.equal.filter((label) => label !== "node") }));
    expect(await heard(loose, alerts)).not.toContain("a/CniAddErrorRate critical agent2");
  }, 60_000);

  test("would silence the second cluster without `equal: [cluster]`", async () => {
    const loose = shipped.map((rule) => ({ ...rule, equal: rule.equal.filter((label) => label !== "cluster") }));
    const waiting = { alertname: "KubePodNotReady", severity: "warning", cluster: "b", ...desktop, pod: "x" };
    expect(await heard(shipped, [...outage("a"), waiting])).toContain(short(waiting));
    expect(await heard(loose, [...outage("a"), waiting])).not.toContain(short(waiting));
  }, 60_000);

  test("lets TargetDown through, whatever of ours fires, but for kube-state-metrics' own", async () => {
    const down = ["shop", "kubelet", "levee", "kube-state-metrics"].map((job) => ({
      alertname: "TargetDown",
      severity: "warning",
      cluster: "a",
      job,
      namespace: "kube-system",
    }));
    const all = ours.map((alertname) => ({
      alertname,
      severity: "critical",
      cluster: "a",
      ...daemon,
      node: "agent1",
      source: "kube-state-metrics",
    }));
    const through = (await heard(shipped, [...down, ...all])).filter((each) => each.includes("TargetDown"));
    expect(through).toEqual(down.slice(0, 3).map(short).toSorted());
  }, 60_000);

  test("a single backlog stands for its pods, in its namespace only", async () => {
    const pod = { alertname: "KubePodNotReady", severity: "warning", cluster: "a", pod: "x" };
    const alerts = [
      { alertname: "NamespacePendingPodBacklog", severity: "warning", cluster: "a", ...desktop },
      { ...pod, ...desktop },
      { ...pod, namespace: "shop" },
    ];
    expect(await heard(shipped, alerts)).toEqual([
      "a/KubePodNotReady warning shop",
      "a/NamespacePendingPodBacklog warning fc-desktop",
    ]);
  }, 60_000);

  test("names the cluster in every rule, and of ours only alerts that exist", () => {
    for (const rule of shipped) {
      expect(rule.equal).toContain("cluster");
      const names = [...rule.source_matchers, ...rule.target_matchers]
        .flatMap((matcher) => /^alertname=~?"(.*)"$/u.exec(matcher)?.[1]?.split("|") ?? [])
        .filter((name) => !name.startsWith("Kube") && name !== "TargetDown");
      for (const name of names) expect(ours).toContain(name);
    }
  });
});
