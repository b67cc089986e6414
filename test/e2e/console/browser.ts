import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadPlaywright, type Browser, type Page } from "./playwright.ts";

const executablePath = "/usr/bin/chromium";
/** As root there is no sandbox; the other flags keep Chromium from asking hosts of its own. */
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const axe = readFileSync(join(import.meta.dir, "../../../node_modules/axe-core/axe.min.js"), "utf8");
const pictures = join(import.meta.dir, "../../../docs/console");

export function missingBrowser(): string | undefined {
  return existsSync(executablePath) ? undefined : `${executablePath} is not installed (Debian's package chromium)`;
}

export async function startBrowser(): Promise<Browser> {
  const { chromium } = await loadPlaywright();
  return await chromium.launch({ executablePath, args: flags });
}

interface TabOptions {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: "light" | "dark";
}

/** Notes when the nodes are on the screen: in the second frame after they are in the document. */
const paintWatch = `
  const look = () => document.querySelector(".map svg path, .node-cards") === null
    ? requestAnimationFrame(look)
    : requestAnimationFrame(() => { globalThis.paintedMs = performance.now(); });
  requestAnimationFrame(look);
`;

/** A tab with the console in it that writes down every request that leaves its origin and every error of the page. */
export class ConsoleTab {
  readonly page: Page;
  readonly offOrigin: string[] = [];
  readonly errors: string[] = [];
  requests = 0;

  private constructor(page: Page, url: string) {
    this.page = page;
    const own = new URL(url).origin;
    page.on("request", (request) => {
      this.requests += 1;
      if (new URL(request.url()).origin !== own) this.offOrigin.push(request.url());
    });
    page.on("pageerror", (error) => this.errors.push(error.message));
    page.on("console", (message) => {
      // A stream that was cut and a refusal are told by the browser itself.
      if (message.type() === "error" && !/Failed to load resource|ERR_/u.test(message.text()))
        this.errors.push(message.text());
    });
  }

  static async open(browser: Browser, url: string, options: TabOptions = {}): Promise<ConsoleTab> {
    const tab = await ConsoleTab.openSignedOut(browser, url, options);
    await tab.page.waitForSelector("main h1");
    return tab;
  }

  /** The page before anybody has signed in shows nothing but that. */
  static async openSignedOut(browser: Browser, url: string, options: TabOptions = {}): Promise<ConsoleTab> {
    const { width = 1_440, height = 900, colorScheme = "light" } = options;
    const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: "reduce" });
    await context.addInitScript(paintWatch);
    const tab = new ConsoleTab(await context.newPage(), url);
    await tab.page.goto(`${url}#now`);
    return tab;
  }

  async go(hash: string): Promise<void> {
    await this.page.evaluate(`void (location.hash = ${JSON.stringify(hash)})`);
    await this.page.waitForSelector("main h1");
  }

  /** From the start of the navigation to all nodes on the screen, by the browser's own clock. */
  async paintedMs(): Promise<number> {
    await this.page.waitForSelector(".map svg path, .node-cards");
    return Number(await this.page.evaluate("globalThis.paintedMs"));
  }

  /** Rules that axe finds broken, with the first place of each. */
  async violations(): Promise<readonly string[]> {
    // Added by the test as text: the page's policy lets no script of another origin in.
    await this.page.evaluate(`${axe};void 0`);
    const found = await this.page.evaluate(
      "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))",
    );
    return found as readonly string[]; // the line above
  }

  /** Something is wider than the window. */
  async isTooWide(): Promise<boolean> {
    return (await this.page.evaluate("document.documentElement.scrollWidth > innerWidth")) === true;
  }

  /** Kept under docs/ when asked for: a picture of each run would make every run a change. */
  async picture(name: string, height = 900): Promise<void> {
    if (process.env["LEVEE_PICTURES"] !== "1") return;
    await this.page.setViewportSize({ width: 1_440, height });
    const path = join(pictures, `${name}.png`);
    mkdirSync(dirname(path), { recursive: true });
    await this.page.screenshot({ path });
  }

  close(): Promise<void> {
    return this.page.context().close();
  }
}
