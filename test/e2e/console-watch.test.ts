/**
 * What the console has from others, in a real browser: `npm run e2e -- console-watch`. Alerts of a real Alertmanager, hours of
 * a real Prometheus, both through the API server's service proxy, and the sign-in of a console in a cluster.
 */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { propose } from "../../src/guard/decide/propose.ts";
import { defaultGuardSettings } from "../../src/guard/facts/guard-settings.ts";
import { parseAlerts } from "../../src/guard/observe/parse-alerts.ts";
import { outage } from "../../src/guard/outage.fixture.ts";
import { freePort } from "../lab/free-port.ts";
import { Alertmanager } from "../alerts/alertmanager.ts";
import { ConsoleTab, missingBrowser, startBrowser } from "./console/browser.ts";
import { ConsoleProcess } from "./console/console-process.ts";
import { makeService, missingAddress, ownAddress } from "./console/own-address.ts";
import { PastPrometheus, stormPeak } from "./console/past-prometheus.ts";
import type { Browser } from "./console/playwright.ts";
import { decisions, guardUser, startGuardServer } from "./guard/guard-server.ts";
import { needsServer } from "./needs-server.ts";
import type { PolicyServer } from "./policy-server.ts";
import { pause, until } from "./until.ts";

const { group, beforeAll, afterAll } = needsServer(
  "console-watch",
  missingAddress() ?? missingBrowser() ?? missingPrograms(),
);

function missingPrograms(): string | undefined {
  const absent = ["prometheus", "promtool", "prometheus-alertmanager"].filter(
    (program) => spawnSync("which", [program]).status !== 0,
  );
  return absent.length === 0 ? undefined : `not installed: ${absent.join(", ")}`;
}

const longMs = 300_000;
const explained = 41;
const others = ["NodeClockSkewDetected", "KubeAPIErrorBudgetBurn", "TargetDown", "TargetDown"];

let server: PolicyServer;
let folder = "";
let browser: Browser;
let alertmanager: Alertmanager;
let prometheus: PastPrometheus;
let console_: ConsoleProcess;
let inCluster: ConsoleProcess;
let healthPort = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "levee-watch-"));
  const host = ownAddress ?? "";
  server = await startGuardServer();
  server.must(["create", "namespace", "monitoring"]);
  alertmanager = await Alertmanager.start({ route: { receiver: "nobody" }, receivers: [{ name: "nobody" }] }, host);
  prometheus = await PastPrometheus.start(folder, host);
  const targetPort = Number(new URL(alertmanager.url).port);
  await makeService(server, "alertmanager-operated", { port: 9093, targetPort });
  await makeService(server, "prometheus", { port: 9090, targetPort: prometheus.port });
  await fireAlerts();
  const kubeconfig = await server.kubeconfig();
  console_ = await ConsoleProcess.start(folder, kubeconfig, ["--prometheus", "monitoring/prometheus:9090"]);
  healthPort = await freePort();
  const options = ["--in-cluster", "--port", "0", "--health-port", String(healthPort)];
  inCluster = await ConsoleProcess.start(folder, kubeconfig, options, "in-cluster");
  browser = await startBrowser();
}, longMs);

afterAll(async () => {
  await browser.close();
  await Promise.all([console_.stop(), inCluster.stop(), prometheus.stop(), alertmanager.end()]);
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}, longMs);

/** Alerts of the outage and others; and the Decisions that the guard's rules make of what Alertmanager then tells. */
async function fireAlerts(): Promise<void> {
  const { pods } = outage();
  const stuck = [...pods].filter(({ namespace }) => namespace === "fc-desktop").slice(0, explained);
  await alertmanager.post([
    ...stuck.map(({ namespace, name }) => ({ alertname: "KubePodNotReady", namespace, pod: name })),
    ...others.map((alertname, at) => ({ alertname, instance: `i${at}` })),
  ]);
  const text = await (await fetch(`${alertmanager.url}/api/v2/alerts`)).text();
  const { alerts } = parseAlerts(text, "");
  for (const { name, spec } of propose(outage({ alerts }), defaultGuardSettings)) {
    const metadata = { name, namespace: "levee-system" };
    const body = { apiVersion: "levee.dev/v1alpha1", kind: "Decision", metadata, spec };
    const made = await server.ask({ method: "POST", path: decisions, body, as: { user: guardUser } });
    if (made.code !== 201) throw new Error(made.text);
  }
}

async function untilShown(tab: ConsoleTab, text: RegExp, timeoutMs = 60_000): Promise<string> {
  return await until(
    `the page shows ${text.source}`,
    async () => {
      const shown = await tab.page.innerText("body");
      if (text.test(shown)) return shown;
      throw new Error(`it shows ${shown.slice(0, 2_000)}`);
    },
    { timeoutMs, everyMs: 250 },
  );
}

group("the console and those who watch", () => {
  test(
    "counts alerts of a real Alertmanager, those that the cause explains and those it does not",
    async () => {
      const tab = await ConsoleTab.open(browser, console_.url);
      await tab.go("#decisions");
      const said = await untilShown(tab, /45 firing, 41 explained/u);
      expect(said).toMatch(/TargetDown\s+2\s+0/u);
      await alertmanager.resolve([{ alertname: "TargetDown", instance: "i2" }]);
      await untilShown(tab, /44 firing, 41 explained/u);
      expect(await tab.violations()).toEqual([]);
      expect([...tab.errors, ...tab.offOrigin]).toEqual([]);
      await tab.close();
    },
    longMs,
  );

  test(
    "shows six hours of a real Prometheus, with the storm in them",
    async () => {
      const tab = await ConsoleTab.open(browser, console_.url);
      await tab.go("#storm");
      await tab.page.getByRole("button", { name: "last 6 h" }).click();
      await tab.page.locator(".plot-pair summary").first().click();
      await until("the storm of three hours ago is in the table", async () => {
        const cells = await tab.page.evaluate(
          "[...document.querySelectorAll('.plot-pair table td')].map((cell) => cell.textContent)",
        );
        return (cells as readonly string[]).includes(String(stormPeak)) || undefined; // the line above
      });
      expect(await tab.violations()).toEqual([]);
      expect([...tab.errors, ...tab.offOrigin]).toEqual([]);
      await tab.close();
    },
    longMs,
  );
});

group("the sign-in of a console in a cluster", () => {
  test(
    "asks for a token, takes a viewer's own, refuses another, and is silent once it is no longer valid",
    async () => {
      server.must(["create", "serviceaccount", "viewer", "-n", "monitoring"]);
      const account = "--serviceaccount=monitoring:viewer";
      server.must(["create", "clusterrolebinding", "see-viewer", "--clusterrole=levee-viewer", account]);
      const token = server.must(["create", "token", "viewer", "-n", "monitoring"]).trim();
      const tab = await ConsoleTab.openSignedOut(browser, inCluster.url);
      await untilShown(tab, /The page has stopped asking/u);
      expect(await tab.violations()).toEqual([]);
      const signIn = async (text: string): Promise<void> => {
        await tab.page.locator('.sign-in input[type="password"]').fill(text);
        await tab.page.getByRole("button", { name: "Sign in" }).click();
      };
      await signIn("not-a-token");
      await untilShown(tab, /The page has stopped asking/u);
      await signIn(token);
      await untilShown(tab, /system:serviceaccount:monitoring:viewer/u);
      await tab.page.waitForSelector("main h1");
      expect(await tab.page.evaluate("[document.cookie, localStorage.length, sessionStorage.length].join()")).toBe(
        ",0,0",
      );
      server.must(["delete", "serviceaccount", "viewer", "-n", "monitoring"]);
      await untilShown(tab, /The page has stopped asking/u);
      const before = tab.requests;
      await pause(12_000);
      expect(tab.requests).toBe(before);
      expect(tab.offOrigin).toEqual([]);
      await tab.close();
    },
    longMs,
  );

  test("kubelet's probes and a scraper have a port of their own, which tells nothing of the cluster", async () => {
    const ask = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${healthPort}${path}`);
    await until("the console is ready", async () => (await ask("/readyz")).ok || undefined);
    expect(await (await ask("/healthz")).text()).toBe("ok\n");
    expect((await ask("/events")).status).toBe(404);
    expect((await fetch(`${inCluster.url}events`)).status).toBe(401);
    expect(await (await ask("/metrics")).text()).toMatch(/levee_console_refused_total\{code="sign-in-needed"\} \d+/u);
  });
});
