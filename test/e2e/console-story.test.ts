/**
 * A pod's and a network's story on the console, told from afar: `npm run e2e -- console-story`. Real: the API server and its
 * node proxy, Levee's daemon, shim and hand, the plugins, network namespaces, `levee console`, Chromium. Not real: kubelet.
 */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConsoleTab, missingBrowser, startBrowser } from "./console/browser.ts";
import { ConsoleProcess } from "./console/console-process.ts";
import type { Browser } from "./console/playwright.ts";
import { missingAddress } from "./console/own-address.ts";
import { ToldNode, toldNode } from "./console/told-node.ts";
import { startGuardServer } from "./guard/guard-server.ts";
import { needsServer } from "./needs-server.ts";
import { personTokens, type PolicyServer } from "./policy-server.ts";
import { until } from "./until.ts";

const { group, beforeAll, afterAll } = needsServer("console-story", missingAddress() ?? missingBrowser());

const longMs = 300_000;
/** Held back after these, and its network fails for every pod. */
const failures = 4;

let server: PolicyServer;
let node: ToldNode;
let folder = "";
let browser: Browser;
let admin: ConsoleProcess;
let carol: ConsoleProcess;
let tab: ConsoleTab;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "levee-story-"));
  server = await startGuardServer();
  node = await ToldNode.start(server);
  node.defineNetwork("lan", "10.77.1.0/28");
  // One address is left beside the gateway's.
  node.defineNetwork("tiny", "10.77.2.0/30");
  server.must(["create", "clusterrolebinding", "see-carol", "--clusterrole=levee-viewer", "--user=carol"]);
  const port = ["--metrics-port", String(node.metricsPort)];
  admin = await ConsoleProcess.start(folder, await server.kubeconfig(), port);
  carol = await ConsoleProcess.start(folder, await server.kubeconfig(personTokens.carol), port);
  browser = await startBrowser();
  tab = await ConsoleTab.open(browser, admin.url);
}, longMs);

afterAll(async () => {
  await browser.close();
  await Promise.all([admin.stop(), carol.stop()]);
  await node.remove();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}, longMs);

async function untilShown(on: ConsoleTab, text: RegExp, timeoutMs = 60_000): Promise<string> {
  return await until(
    `the page shows ${text.source}`,
    async () => {
      const shown = await on.page.innerText("main");
      return text.test(shown) ? shown : undefined;
    },
    { timeoutMs, everyMs: 250 },
  );
}

group("a pod's story from afar", () => {
  test(
    "each plugin is a bar, told by the daemon of the pod's node through the API server",
    async () => {
      expect(await node.attach("web-0", "lan")).toMatchObject({ exitCode: 0 });
      await tab.go("#find/pod/shop/web-0");
      await untilShown(tab, /bridge ran for shop\/lan/u);
      const plugins = await tab.page.locator(".time-line li.is-plugin b").count();
      // ptp and host-local are one plugin run; lan has bridge and tuning.
      expect(plugins).toBe(3);
      const said = await untilShown(tab, /attached\s+for/u);
      expect(said).toContain(toldNode);
      expect(said).toContain("kubectl -n levee-system exec levee-told -- levee why shop/web-0");
      expect(said).toContain("10.77.1.2/28");
      expect(await tab.violations()).toEqual([]);
      await tab.picture("pod", 1_150);
    },
    longMs,
  );

  test(
    "a viewer without nodes/proxy sees what the API server has, and why not more",
    async () => {
      const other = await ConsoleTab.open(browser, carol.url);
      await other.go("#find/pod/shop/web-0");
      const said = await untilShown(other, /it does not tell/u);
      expect(said).toMatch(/carol.*nodes\/proxy|nodes\/proxy.*carol|forbidden/u);
      expect(await other.page.locator(".time-line li.is-plugin").count()).toBe(0);
      expect(said).toContain("The sandbox has its network");
      await other.close();
    },
    longMs,
  );

  test(
    "a stranger on the network learns no story: he does not know the pod's UID",
    async () => {
      const uid = server.must(["-n", "shop", "get", "pod", "web-0", "-o", "jsonpath={.metadata.uid}"]);
      expect((await node.ask(`/podz/shop/web-0/${uid}`)).status).toBe(200);
      expect((await node.ask("/podz/shop/web-0/00000000-0000-0000-0000-000000000000")).status).toBe(404);
      expect((await node.ask("/podz/shop/web-0")).status).toBe(404);
      expect(await (await node.ask("/nodez")).text()).not.toContain(uid);
      expect(await (await node.ask("/metrics")).text()).not.toContain(uid);
    },
    longMs,
  );
});

group("a network's story", () => {
  test(
    "addresses left are those of the node, and a pod that gets none is held back by name",
    async () => {
      expect(await node.attach("batch-0", "tiny")).toMatchObject({ exitCode: 0 });
      for (const name of ["batch-1", "batch-2", "batch-3"])
        expect((await node.attach(name, "tiny", failures)).exitCode).not.toBe(0);
      await tab.go("#storm");
      await untilShown(tab, /shop\/batch-\d/u);
      await untilShown(tab, /shop\/tiny/u, 90_000);
      await tab.go("#find/network/shop%2Ftiny");
      const said = await untilShown(tab, /0 of 1/u, 90_000);
      expect(said).toContain(`on ${toldNode}, the only node that told`);
      expect(said).toContain("batch-1");
      expect(await tab.violations()).toEqual([]);
      await tab.go("#find/network/shop%2Flan");
      await untilShown(tab, /12 of 13/u);
      await tab.picture("network", 580);
    },
    longMs,
  );

  test(
    "the story of the pod that failed has the plugin's words",
    async () => {
      await tab.go("#find/pod/shop/batch-1");
      const said = await untilShown(tab, /no IP addresses available/u);
      expect(said).toMatch(/held|failed|undone/u);
      expect(tab.errors).toEqual([]);
      expect(tab.offOrigin).toEqual([]);
    },
    longMs,
  );

  test(
    "without its daemon the pod's story is the API server's",
    async () => {
      await node.stopDaemon();
      await tab.go("#find/pod/shop/web-0");
      const said = await untilShown(tab, /it does not tell/u);
      expect(said).toContain("The sandbox has its network");
    },
    longMs,
  );
});
