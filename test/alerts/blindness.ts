import { argoApps, barely } from "./a-cluster.ts";
import type { Firing, Scenario } from "./replay.ts";
import { during, series, type Series } from "./series.ts";

/** What must be told of the sources of the alerts, once. */
export const blindness: readonly Scenario[] = [
  {
    name: "kube-state-metrics and cAdvisor go, in the only cluster of a Prometheus that labels it",
    minutes: 60,
    series: during(
      0,
      20,
      barely().map(({ name, labels, at }) => series(name, { ...labels, cluster: "a" }, at)),
    ),
    fires: [
      blind("kube-state-metrics", "critical", { cluster: "a" }, 25),
      blind("cadvisor", "warning", { cluster: "a" }, 35),
    ],
  },
  {
    name: "kube-state-metrics scraped without honor_labels",
    minutes: 30,
    series: [...barely().filter(({ name }) => !name.startsWith("kube_")), ...renamed()],
    fires: [blind("honor-labels", "critical", {}, 5)],
  },
  {
    name: "kube-state-metrics scraped twice, once without honor_labels",
    minutes: 30,
    series: [...barely(), ...renamed()],
    fires: [],
  },
  {
    name: "57 stuck ownerless pods, each of its own make, told by both replicas of the guard",
    minutes: 60,
    series: [
      ...barely(),
      series("levee_guard_leader", { instance: "g1" }, 1),
      ...during(
        10,
        30,
        ["g1", "g2"].map((instance) => series("levee_guard_scattered_pods", { instance, namespace: "fc-desktop" }, 57)),
      ),
    ],
    fires: [
      { alert: "OwnerlessPodsScattered", severity: "warning", of: { namespace: "fc-desktop" }, from: 15, to: 44 },
    ],
  },
];

/** Argo CD in installations of any size. */
export const argoApplications: readonly Scenario[] = [
  {
    name: "two of three applications are Unknown in a small installation",
    minutes: 40,
    series: [...barely(), ...argoApps(3, (minute) => (minute < 5 ? 0 : 2))],
    fires: [{ alert: "ArgoCDAppsUnknown", severity: "warning", of: {}, from: 15 }],
  },
  {
    name: "the only application is Unknown",
    minutes: 40,
    series: [...barely(), ...argoApps(1, (minute) => (minute < 5 ? 0 : 1))],
    fires: [{ alert: "ArgoCDAppsUnknown", severity: "warning", of: {}, from: 15 }],
  },
  {
    name: "one of two applications is Unknown, and ten of twenty",
    minutes: 40,
    series: [
      ...barely(),
      ...[argoApps(2, () => 1), argoApps(20, () => 10)].flatMap((apps, index) =>
        apps.map(({ name, labels, at }) => series(name, { ...labels, cluster: `c${index}` }, at)),
      ),
    ],
    fires: [],
  },
  {
    name: "three of four applications are Unknown for nine minutes",
    minutes: 40,
    series: [...barely(), ...argoApps(4, (minute) => (minute >= 5 && minute < 14 ? 3 : 0))],
    fires: [],
  },
];

/** As Prometheus renames the labels of kube-state-metrics when they clash with those of its target. */
function renamed(): readonly Series[] {
  const own = { namespace: "monitoring", pod: "kube-state-metrics-0", container: "kube-state-metrics" };
  return barely()
    .filter(({ name }) => name.startsWith("kube_"))
    .map(({ name, labels, at }) => {
      const exported = Object.entries(labels).map(([key, value]) => [key in own ? `exported_${key}` : key, value]);
      return series(name, { ...(Object.fromEntries(exported) as Record<string, string>), ...own }, at);
    });
}

function blind(source: string, severity: Firing["severity"], of: Firing["of"], from: number): Firing {
  return { alert: "LeveeBlind", severity, of: { ...of, source }, from };
}
