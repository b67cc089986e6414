/**
 * The console's page in a real browser, on the outage of the seeds: `npm run e2e -- console`. Real: etcd, kube-apiserver,
 * kube-controller-manager, two guards, `levee console`, Chromium. Not real: kubelet, scheduler and Argo CD's controller, as in
 * guard.test.ts.
 */
import { expect, test } from "bun:test";
import { ConsoleProcess } from "./console/console-process.ts";
import { ConsoleTab, missingBrowser, startBrowser } from "./console/browser.ts";
import type { Browser } from "./console/playwright.ts";
import { DecisionDesk } from "./guard/decision-desk.ts";
import { GuardReplicas } from "./guard/guard-process.ts";
import { untilPoliciesCount } from "./guard/guard-server.ts";
import { missingForKubeControllers } from "./guard/kube-controllers.ts";
import { desktops, OutageCluster, type ArgoPlace } from "./guard/outage-cluster.ts";
import { StandInArgo } from "./guard/stand-in-argo.ts";
import { needsServer } from "./needs-server.ts";
import { personTokens } from "./policy-server.ts";
import { pause, until } from "./until.ts";

const { group, beforeAll, afterAll } = needsServer("console", missingForKubeControllers() ?? missingBrowser());

const longMs = 600_000;
const stop = `stop-${desktops}-1`;
const recover = `recover-${desktops}-1`;
/** A pod counts as stuck after this time, so that a test need not wait for five minutes. */
const guardOptions = ["--stuck-after", "60"];

let cluster: OutageCluster<StandInArgo>;
let guards: GuardReplicas;
let desk: DecisionDesk;
let browser: Browser;
let alice: ConsoleProcess;
let carol: ConsoleProcess;
let tab: ConsoleTab;

beforeAll(async () => {
  cluster = await OutageCluster.start(
    ({ server, repository }: ArgoPlace): StandInArgo => new StandInArgo(server, repository),
  );
  const { server, folder } = cluster;
  desk = new DecisionDesk(server);
  const repository = `file://${cluster.repository.folder},branch=main,path=apps`;
  guards = await GuardReplicas.make(server, folder, [...guardOptions, "--git-repository", repository]);
  // Alice may look and approve; carol may only look.
  for (const user of ["alice", "carol"])
    server.must(["create", "clusterrolebinding", `see-${user}`, "--clusterrole=levee-viewer", `--user=${user}`]);
  server.must(["create", "clusterrole", "look", "--verb=get,list,watch", "--resource=decisions.levee.dev"]);
  server.must(["create", "clusterrolebinding", "look", "--clusterrole=look", "--user=carol"]);
  alice = await ConsoleProcess.start(folder, await server.kubeconfig(personTokens.alice));
  carol = await ConsoleProcess.start(folder, await server.kubeconfig(personTokens.carol));
  browser = await startBrowser();
  tab = await ConsoleTab.open(browser, alice.url);
}, longMs);

afterAll(async () => {
  await browser.close();
  await Promise.all([alice.stop(), carol.stop(), guards.stop()]);
  await cluster.stop();
}, longMs);

/** Waits until the page shows a text, without touching it. */
async function untilShown(text: RegExp, timeoutMs = 30_000): Promise<void> {
  await until(`the page shows ${text.source}`, async () => text.test(await tab.page.innerText("body")) || undefined, {
    timeoutMs,
    everyMs: 250,
  });
}

async function typeVerdict(on: ConsoleTab, decision: string, verdict: string): Promise<void> {
  const card = on.page.getByRole("article", { name: `Decision ${decision}` });
  await card.getByRole("button", { name: `${verdict}…` }).click();
  const send = card.getByRole("button", { name: `${verdict} this plan` });
  await card.locator('input[name="name"]').fill(`${decision}x`);
  expect(await send.isDisabled()).toBe(true);
  await card.locator('input[name="name"]').fill(decision);
  await card.locator('input[name="reason"]').fill("seen on the console");
  await send.click();
}

group("the console in the outage of the seeds", () => {
  test(
    "the storm is on the page without a reload",
    async () => {
      await tab.go("#storm");
      const before = performance.now();
      await cluster.breakDown();
      await untilShown(/rd-browser-only-/u);
      await untilShown(/waiting now\s+2\d\d/u);
      console.log(`the storm was on the page ${Math.round(performance.now() - before)} ms after it began`);
      expect(await tab.violations()).toEqual([]);
    },
    longMs,
  );

  test(
    "the card appears without a reload",
    async () => {
      await tab.go("#decisions");
      await pause(60_000);
      guards.start();
      await untilShown(new RegExp(recover, "u"), 120_000);
      await untilShown(new RegExp(stop, "u"));
      await tab.page.getByRole("article", { name: `Decision ${recover}` }).waitFor();
      await tab.picture("decisions", 1_400);
      expect(await tab.violations()).toEqual([]);
      await tab.go("#now");
      await untilShown(/Needs a person/u);
      await tab.picture("now", 1_000);
      expect(await tab.violations()).toEqual([]);
      await tab.go("#storm");
      await tab.picture("storm", 1_000);
    },
    longMs,
  );

  test(
    "a viewer without the right gets the server's refusal in words, and nothing is written",
    async () => {
      await untilPoliciesCount(cluster.server);
      const other = await ConsoleTab.open(browser, carol.url);
      await other.go("#decisions");
      await other.page.getByRole("article", { name: `Decision ${stop}` }).waitFor();
      await typeVerdict(other, stop, "Approve");
      const said = await other.page.getByRole("alert").innerText();
      expect(said).toMatch(/carol/u);
      expect(said).toMatch(/decisionapprovals|approve/u);
      expect(cluster.server.must(["-n", "levee-system", "get", "decisionapprovals", "-o", "name"])).toBe("");
      expect(await other.violations()).toEqual([]);
      expect(other.offOrigin).toEqual([]);
      await other.close();
    },
    longMs,
  );

  test(
    "approve by typing the name",
    async () => {
      await tab.go("#decisions");
      await typeVerdict(tab, stop, "Approve");
      await tab.page.getByRole("status").first().waitFor();
      await desk.untilPhase(stop, "Succeeded", 120_000);
      await until("the card has ended", async () => {
        const open = await tab.page.locator(`article[aria-label="Decision ${stop}"]:visible`).count();
        return open === 0 || undefined;
      });
      const text = cluster.server.must([
        ...["-n", "levee-system", "get", "decisionapprovals"],
        ...["-o", "jsonpath={.items[*].spec.by.username} {.items[*].spec.reason}"],
      ]);
      expect(text).toContain("alice seen on the console");
    },
    longMs,
  );
});

group("the console when others are away", () => {
  test(
    "the guard killed and back: the page stays, and says what it knows",
    async () => {
      await guards.stop();
      await tab.go("#decisions");
      await tab.page.getByRole("article", { name: `Decision ${recover}` }).waitFor();
      guards.start();
      await until("a guard leads again", () => (guards.leader() === "" ? undefined : true), { timeoutMs: 90_000 });
      await tab.page.getByRole("article", { name: `Decision ${recover}` }).waitFor();
      expect(tab.errors).toEqual([]);
    },
    longMs,
  );

  test(
    "the API server away for 30 s: old facts are said to be old, and the page recovers by itself",
    async () => {
      await tab.go("#now");
      await cluster.server.stopApiServer("SIGKILL");
      await untilShown(/Old: what you see was so at \d\d:\d\d:\d\d/u, 60_000);
      expect(await tab.page.locator("main.is-old").count()).toBe(1);
      await pause(30_000);
      await cluster.server.startApiServer();
      await until(
        "nothing is old any more",
        async () => ((await tab.page.locator(".banner").count()) === 0 ? true : undefined),
        { timeoutMs: 120_000 },
      );
      expect(tab.errors).toEqual([]);
    },
    longMs,
  );

  test(
    "the console killed: the page greys, says so, and stops nothing else",
    async () => {
      await alice.stop();
      await untilShown(/Old: what you see was so at \d\d:\d\d:\d\d/u);
      expect(await tab.page.locator("main.is-old").count()).toBe(1);
      expect(tab.offOrigin).toEqual([]);
    },
    longMs,
  );
});
