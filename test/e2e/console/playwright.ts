/**
 * The part of playwright-core that the tests use. Its own types need those of a browser, which the rest of test/ must not
 * see; so the package is loaded by a name that the compiler does not follow, and scripts for the page are text.
 */
export interface Browser {
  newContext(options: {
    readonly viewport: { readonly width: number; readonly height: number };
    readonly colorScheme: "light" | "dark";
    readonly reducedMotion: "reduce";
  }): Promise<BrowserContext>;
  close(): Promise<void>;
}

interface BrowserContext {
  newPage(): Promise<Page>;
  /** Runs before any script of the page. */
  addInitScript(script: string): Promise<void>;
  newCDPSession(page: Page): Promise<{ send(method: string): Promise<Readonly<Record<string, unknown>>> }>;
  close(): Promise<void>;
}

export interface Page {
  readonly keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> };
  on(event: "request", hear: (request: { url(): string }) => void): void;
  on(event: "pageerror", hear: (error: Error) => void): void;
  on(event: "console", hear: (message: { type(): string; text(): string }) => void): void;
  goto(url: string): Promise<unknown>;
  setViewportSize(size: { readonly width: number; readonly height: number }): Promise<void>;
  waitForSelector(selector: string): Promise<unknown>;
  /** The value of an expression of the page. */
  evaluate(script: string): Promise<unknown>;
  innerText(selector: string): Promise<string>;
  getByRole(role: string, options?: { readonly name: string }): Locator;
  locator(selector: string): Locator;
  screenshot(options: { readonly path: string; readonly fullPage?: boolean }): Promise<unknown>;
  context(): BrowserContext;
}

interface Locator {
  getByRole(role: string, options?: { readonly name: string }): Locator;
  locator(selector: string): Locator;
  first(): Locator;
  click(): Promise<void>;
  fill(text: string): Promise<void>;
  focus(): Promise<void>;
  waitFor(): Promise<void>;
  innerText(): Promise<string>;
  isDisabled(): Promise<boolean>;
  count(): Promise<number>;
}

interface Playwright {
  readonly chromium: {
    launch(options: { readonly executablePath: string; readonly args: readonly string[] }): Promise<Browser>;
  };
}

const packageName: string = "playwright-core";

export async function loadPlaywright(): Promise<Playwright> {
  return (await import(packageName)) as Playwright; // the interfaces above
}
