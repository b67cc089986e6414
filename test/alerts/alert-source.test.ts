/** The guard's source of alerts on a real Alertmanager: what fires here, held back or not, and nothing of another cluster. */
import { expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { AlertSource } from "../../src/guard/observe/alert-source.ts";
import { Alertmanager, until } from "./alertmanager.ts";

const inhibit = {
  source_matchers: ['alertname="MultusOOMLoop"'],
  target_matchers: ['alertname="KubePodNotReady"'],
  equal: ["cluster"],
};

test("AlertSource reads a real Alertmanager: its own cluster's alerts and those without one, inhibited ones too", async () => {
  await using manager = await Alertmanager.start({
    route: { receiver: "nobody" },
    receivers: [{ name: "nobody" }],
    inhibit_rules: [inhibit],
  });
  // A name in which a regular expression would see more than a name.
  const cluster = "prod.eu";
  await manager.post([
    { alertname: "MultusOOMLoop", cluster, namespace: "kube-system", pod: "kube-multus-ds-1" },
    { alertname: "KubePodNotReady", cluster, namespace: "fc-desktop", pod: "rd-1" },
    { alertname: "TargetDown", namespace: "shop" },
    { alertname: "TargetDown", cluster: "prodxeu", namespace: "elsewhere" },
    { alertname: "TargetDown", cluster: "test", namespace: "elsewhere" },
  ]);
  await until("one alert holds back another", async () =>
    (await manager.alerts()).some(({ status }) => status.inhibitedBy.length > 0) ? true : undefined,
  );
  const source = new AlertSource({
    clock: systemClock,
    logger: silentLogger,
    alertmanagers: [{ url: "http://127.0.0.1:1" }, { url: manager.url }],
    cluster,
  });
  try {
    source.start();
    const alerts = await until("the alerts are read", () =>
      Promise.resolve(source.alerts().length > 0 ? source.alerts() : undefined),
    );
    expect(alerts.map(({ name, labels }) => `${name} ${labels["namespace"]}`).toSorted()).toEqual([
      "KubePodNotReady fc-desktop",
      "MultusOOMLoop kube-system",
      "TargetDown shop",
    ]);
    expect(alerts.every(({ startsMs }) => Math.abs(systemClock.wallMs() - startsMs) < 60_000)).toBe(true);
    expect(source.notes()).toEqual([]);
  } finally {
    await source.close();
  }
}, 60_000);
