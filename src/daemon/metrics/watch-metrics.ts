import type { NetworkReadiness } from "../../readiness/network-rules.ts";
import type { CanaryFacts } from "../../readiness/hand-rules.ts";
import type { MetricsRegistry, Sample } from "./metrics-registry.ts";

/** Each network is a series; a cluster may have thousands, and an alert needs a few names. */
const notReadyMax = 200;

export function registerCanary(metrics: MetricsRegistry, canary: { readonly last: CanaryFacts | undefined }): void {
  // No series before the first conclusive trial: a zero would mean a failure.
  const gauge = (name: string, help: string, read: (facts: CanaryFacts) => number): void =>
    metrics.gauge(name, help, () => {
      const { last } = canary;
      return last === undefined || last.isInconclusive ? [] : [{ value: read(last) }];
    });
  gauge("levee_canary_success", "1 when the last trial of a plugin succeeded", (facts) => (facts.isSuccess ? 1 : 0));
  gauge("levee_canary_age_seconds", "Time since the last trial ended", (facts) => facts.ageMs / 1_000);
  gauge("levee_canary_seconds", "How long the last trial took", (facts) => facts.tookMs / 1_000);
}

export function registerNetworks(metrics: MetricsRegistry, watch: { networks(): readonly NetworkReadiness[] }): void {
  metrics.gauge("levee_networks", "Networks on this node by state: ready, not-ready or unknown", () => {
    const networks = watch.networks();
    return (["ready", "not-ready", "unknown"] as const).map((state) => ({
      labels: { state },
      value: networks.filter((network) => network.state === state).length,
    }));
  });
  metrics.gauge(
    "levee_network_ready",
    "0 for each network that cannot be attached on this node; ready ones have no series",
    () => notReady(watch.networks()),
  );
  metrics.gauge(
    "levee_networks_doubtful",
    "Ready networks about which there is a doubt, such as an address of this host in the range",
    () => watch.networks().filter(({ state, reasons }) => state === "ready" && reasons.length > 0).length,
  );
}

function notReady(networks: readonly NetworkReadiness[]): readonly Sample[] {
  return networks
    .filter(({ state }) => state === "not-ready")
    .slice(0, notReadyMax)
    .map(({ network }) => ({ labels: { network }, value: 0 }));
}
