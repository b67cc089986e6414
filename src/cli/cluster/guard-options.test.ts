import { expect, test } from "bun:test";
import { failureOf } from "../failure-of.fixture.ts";
import { guardPlaces } from "./guard-options.ts";

test("guardPlaces takes ports, Alertmanagers and CNI daemons as they are written", () => {
  expect(guardPlaces({})).toEqual({});
  expect(
    guardPlaces({
      metricsPort: "9811",
      daemonPort: "9810",
      alertmanager: ["http://alertmanager.example:9093/", "https://alerts.example/am"],
      cniDaemon: ["kube-system/kube-multus-ds/kube-multus"],
      stuckAfter: "90",
      lowerAfter: "14",
      verifyUrl: ["https://update.example/"],
      prometheus: "http://prometheus.example:9090/",
    }),
  ).toEqual({
    metricsPort: 9_811,
    daemonPort: 9_810,
    alertmanagers: [{ url: "http://alertmanager.example:9093" }, { url: "https://alerts.example/am" }],
    cniDaemons: [{ namespace: "kube-system", daemonSet: "kube-multus-ds", container: "kube-multus" }],
    stuckAfterMs: 90_000,
    calmForMs: 14 * 86_400_000,
    verifyUrls: [{ url: "https://update.example/", status: 200 }],
    prometheus: { url: "http://prometheus.example:9090" },
  });
});

test("guardPlaces takes never as a time that does not come", () => {
  expect(guardPlaces({ lowerAfter: "never" })).toEqual({ calmForMs: Number.POSITIVE_INFINITY });
});

for (const [options, what] of [
  [{ daemonPort: "0" }, "--daemon-port as it must be a port"],
  [{ metricsPort: "x" }, "--metrics-port as it must be a port"],
  [{ alertmanager: ["alertmanager.example:9093"] }, "--alertmanager as it must be a URL"],
  [{ alertmanager: ["http://me:secret@alertmanager.example"] }, "--alertmanager as it must be a URL"],
  [{ alertmanager: ["http://alertmanager.example/?x=1"] }, "--alertmanager as it must be a URL"],
  [{ alertmanager: Array.from({ length: 9 }, () => "http://alertmanager.example") }, "more than 8 times"],
  [{ verifyUrl: ["update.example"] }, "--verify-url as it must be a URL"],
  [{ verifyUrl: Array.from({ length: 9 }, () => "https://update.example") }, "--verify-url more than 8 times"],
  [{ prometheus: "prometheus:9090" }, "--prometheus as it must be a URL"],
  [{ prometheus: "http://p.example/,token=/x" }, "a token over http can be read on the way"],
  [{ cniDaemon: ["kube-multus-ds"] }, "--cni-daemon as it must be"],
  [{ cniDaemon: ["a/b/c/d"] }, "--cni-daemon as it must be"],
  [{ cniDaemon: ["a/b/-c"] }, "--cni-daemon as it must be"],
  [{ stuckAfter: "59" }, "--stuck-after as it must be a number of seconds from 60 to 3600"],
  [{ stuckAfter: "5m" }, "--stuck-after as it must be"],
  [{ lowerAfter: "0" }, "--lower-after as it must be a number of days from 1 to 90, or never"],
  [{ lowerAfter: "91" }, "--lower-after as it must be"],
  [{ lowerAfter: "7d" }, "--lower-after as it must be"],
] as const) {
  test(`guardPlaces refuses ${JSON.stringify(options).slice(0, 60)}`, async () => {
    const failure = await failureOf(Promise.try(() => guardPlaces(options)));
    expect(failure.message).toContain(what);
  });
}
