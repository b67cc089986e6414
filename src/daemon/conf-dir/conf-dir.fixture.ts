import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, type Clock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import { parseDaemonConfig } from "../../config/daemon-config.ts";
import { silentEventTeller } from "../tell/event-teller.ts";
import { warning, type ConfDirFacts } from "./conf-dir-facts.ts";
import { ConfDir } from "./conf-dir.ts";

/** A clock that moves only when a test advances it. */
export class StepClock {
  #nowMs = 1_000_000;
  #timers: { readonly dueMs: number; readonly everyMs: number | undefined; readonly callback: () => void }[] = [];

  readonly clock: Clock = {
    ...systemClock,
    monotonicMs: () => this.#nowMs,
    wallMs: () => this.#nowMs,
    after: (ms, callback) => this.#add(ms, undefined, callback),
    every: (ms, callback) => this.#add(ms, ms, callback),
  };

  /** Runs the timers that fall due, in order. */
  advance(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (;;) {
      const next = this.#timers.toSorted((left, right) => left.dueMs - right.dueMs)[0];
      if (next === undefined || next.dueMs > endMs) break;
      this.#nowMs = next.dueMs;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      if (next.everyMs !== undefined) this.#add(next.everyMs, next.everyMs, next.callback);
      next.callback();
    }
    this.#nowMs = endMs;
  }

  #add(ms: number, everyMs: number | undefined, callback: () => void): () => void {
    const timer = { dueMs: this.#nowMs + ms, everyMs, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other.callback !== callback);
    };
  }
}

/** A ConfDir on a temporary conf directory. */
export class ConfSite {
  readonly root: string;
  readonly folder: string;
  readonly time = new StepClock();
  readonly events: string[] = [];
  readonly log: string[] = [];
  /** How often calls in line were told to hurry. */
  hurries = 0;
  /** Whether the runtime can find the shim. */
  hasShim = true;
  #confDir: ConfDir | undefined;

  private constructor(root: string) {
    this.root = root;
    this.folder = join(root, "net.d");
  }

  static async make(): Promise<ConfSite> {
    const site = new ConfSite(await mkdtemp(join(tmpdir(), "levee-conf-dir-")));
    await mkdir(site.folder);
    return site;
  }

  async start(settings: object = {}): Promise<ConfDir> {
    await this.#confDir?.stop();
    const config = parseDaemonConfig(
      JSON.stringify({ cniConfigDir: this.folder, socketDir: "/host/run/levee", ...settings }),
      "daemon-config.json",
    );
    this.#confDir = new ConfDir({
      config,
      admission: { hurry: () => void (this.hurries += 1) },
      clock: this.time.clock,
      logger: {
        ...silentLogger,
        warn: (message) => this.log.push(message),
        error: (message, fields) => this.log.push(`${message} ${JSON.stringify(fields)}`),
      },
      lookForShim: () => Promise.resolve(this.hasShim ? undefined : warning("shim-missing", "no shim", "install it")),
      eventTeller: { ...silentEventTeller, aboutNode: ({ reason }) => this.events.push(reason) },
    });
    await this.#confDir.start();
    return this.#confDir;
  }

  get facts(): ConfDirFacts {
    if (this.#confDir === undefined) throw new Error("Not started");
    return this.#confDir.facts();
  }

  /** Kinds of the present problems. */
  get problems(): readonly string[] {
    return this.facts.problems.map(({ kind }) => kind);
  }

  /** Lets time pass in steps of a second, with a look in each. */
  async pass(ms = 17_000): Promise<ConfDirFacts> {
    for (let leftMs = ms; leftMs > 0; leftMs -= 1_000) {
      this.time.advance(Math.min(leftMs, 1_000));
      await this.#confDir?.settled();
    }
    return this.facts;
  }

  async put(name: string, content: unknown): Promise<void> {
    await writeFile(join(this.folder, name), typeof content === "string" ? content : JSON.stringify(content));
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.folder, name));
  }

  path(name = "00-levee.conf"): string {
    return join(this.folder, name);
  }

  text(name = "00-levee.conf"): Promise<string> {
    return readFile(this.path(name), "utf8");
  }

  async conf(name = "00-levee.conf"): Promise<Record<string, unknown>> {
    return JSON.parse(await this.text(name)) as Record<string, unknown>;
  }

  async names(): Promise<readonly string[]> {
    return (await readdir(this.folder)).toSorted();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#confDir?.stop();
    await rm(this.root, { recursive: true, force: true });
  }
}

/** A primary network as Calico and others write theirs. */
export function primaryList(name = "k8s-pod-network", ...types: readonly string[]): object {
  const plugins = types.length > 0 ? types : ["calico", "portmap"];
  return {
    cniVersion: "0.3.1",
    name,
    plugins: plugins.map((type) => (type === "portmap" ? { type, capabilities: { portMappings: true } } : { type })),
  };
}
