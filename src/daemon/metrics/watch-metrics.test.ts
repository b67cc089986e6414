import { expect, test } from "bun:test";
import { judgeNetwork, takenAddress, withDoubts } from "../../readiness/network-rules.ts";
import { unseenHost } from "../health/network-book.ts";
import { MetricsRegistry } from "./metrics-registry.ts";
import { registerNetworks } from "./watch-metrics.ts";

test("registerNetworks counts the ready networks that have a doubt, and no others", () => {
  const ready = judgeNetwork("a/ready", [], unseenHost);
  const unknown = judgeNetwork("a/unknown", [{ programs: ["bridge"], links: [] }], unseenHost);
  const doubt = [takenAddress("10.1.0.9", "br-lan")];
  const metrics = new MetricsRegistry();
  registerNetworks(metrics, { networks: () => [ready, withDoubts(ready, doubt), withDoubts(unknown, doubt)] });
  const text = metrics.render();
  expect(text).toContain("\nlevee_networks_doubtful 1\n");
  expect(text).toContain('levee_networks{state="ready"} 2');
});
