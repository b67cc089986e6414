/**
 * What a newcomer does first, in a real browser: `levee storm --console` and the link of `npm start`. Real: the daemon,
 * shims, plugins and network namespaces of 219 pods, and Chromium. There is no cluster.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConsoleTab, missingBrowser, startBrowser } from "./console/browser.ts";
import type { Browser } from "./console/playwright.ts";
import { Program } from "./program.ts";
import { until } from "./until.ts";

const missing = missingBrowser();
if (missing !== undefined) console.warn(`console-storm: skipped, ${missing}`);
const root = join(import.meta.dir, "../..");
const longMs = 300_000;
const podCount = 219;
/** Those of the second namespace that come in the middle of it. */
const secondCount = 6;

let folder = "";
let browser: Browser;
const started: Program[] = [];

beforeAll(async () => {
  if (missing !== undefined) return;
  folder = await mkdtemp(join(tmpdir(), "levee-watched-"));
  browser = await startBrowser();
}, longMs);

afterAll(async () => {
  if (missing !== undefined) return;
  await browser.close();
  for (const program of started) await program.stop("SIGINT");
  await rm(folder, { recursive: true, force: true });
}, longMs);

/** Starts a command, and waits for the link that it prints. */
async function linkOf(name: string, command: readonly string[]): Promise<{ program: Program; url: string }> {
  const program = new Program(folder, name, { command: [...command] });
  program.start();
  started.push(program);
  const url = await until(
    `${name} prints the link`,
    () => {
      if (!program.isRunning) throw new Error(program.logTail());
      return /(http:\/\/127\.0\.0\.1:\d+\/[\w-]+\/)/u.exec(program.log)?.[1];
    },
    // `npm start` builds what has changed.
    { timeoutMs: 240_000 },
  );
  return { program, url };
}

/** The first number on the page's tile of that name. */
async function tile(tab: ConsoleTab, name: string): Promise<number> {
  const text = await tab.page.innerText("main");
  const [, digits = ""] = new RegExp(`${name}\\s+([\\d\\s\u202f]+)`, "u").exec(text) ?? [];
  return digits === "" ? Number.NaN : Number(digits.replace(/\D/gu, ""));
}

(missing === undefined ? describe : describe.skip)("a newcomer's first minutes", () => {
  test(
    "219 pods are seen being attached, and the page stays when the storm is over",
    async () => {
      const { program, url } = await linkOf("storm", [
        ...[join(root, "dist/levee"), "storm", "--pods", String(podCount), "--console"],
      ]);
      const tab = await ConsoleTab.open(browser, url);
      await tab.go("#storm");
      const seen = new Set<number>();
      const most = await until(
        "all pods are attached",
        async () => {
          const attached = await tile(tab, "attached");
          if (attached > 0) seen.add(attached);
          if (seen.size === 4) await tab.picture("storm-live", 1_000);
          return attached >= podCount + secondCount ? attached : undefined;
        },
        { timeoutMs: 180_000, everyMs: 100 },
      );
      console.log(`seen while they were attached: ${[...seen].join(", ")}`);
      expect(most).toBe(podCount + secondCount);
      // Some steps on the way: it is a film, not a result.
      expect(seen.size).toBeGreaterThanOrEqual(3);
      expect(await tab.violations()).toEqual([]);
      expect([...tab.errors, ...tab.offOrigin]).toEqual([]);
      await until("the storm's end is told", () => program.log.includes("The console stays") || undefined, {
        timeoutMs: 120_000,
      });
      await tab.close();
      await until("the command ends with the tab", () => !program.isRunning || undefined, { timeoutMs: 60_000 });
    },
    longMs,
  );

  test(
    "the link of the demonstration shows the node and its pod's story",
    async () => {
      const { program, url } = await linkOf("start", [
        ...["node", join(root, "scripts/with-packages.mjs"), "bun", join(root, "scripts/start.ts")],
      ]);
      const tab = await ConsoleTab.open(browser, url);
      await tab.page.waitForSelector(".node-cards");
      await tab.page.keyboard.press("/");
      await tab.page.keyboard.type("demo");
      await tab.page.keyboard.press("Enter");
      await until("the pods of the demonstration are found", async () =>
        (await tab.page.locator("main td a").count()) > 0 ? true : undefined,
      );
      await tab.page.locator("main td a").first().click();
      await tab.page.waitForSelector(".time-line li.is-plugin");
      expect([...tab.errors, ...tab.offOrigin]).toEqual([]);
      await tab.close();
      await program.stop("SIGINT");
    },
    longMs,
  );
});
