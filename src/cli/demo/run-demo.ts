import { existsSync } from "node:fs";
import { attachPod, splitNetworks } from "../node/attach-pod.ts";
import { isUnreachable } from "../node/ask.ts";
import { askDaemon, type Context } from "../context.ts";
import { cleanedText, cleanSite } from "./clean.ts";
import { Child } from "./child.ts";
import { takeLock } from "./lock.ts";
import { memoryOf } from "./memory.ts";
import { prepareSite, refuseTakenNames, requireMachine } from "./prepare.ts";
import { reach } from "./reach.ts";
import { gotText, howToGoOn, type DemoFacts } from "./report.ts";
import { demoSite, sitePaths, type Site } from "./site.ts";
import { attachedPods, detachEach } from "../node/detach-pod.ts";
import { CommandFailure, interruptedFailure } from "../failure.ts";
import { netnsName, parseNetworks } from "../node/names.ts";
import { paintFor } from "../terminal/paint.ts";
import { withProgress } from "../terminal/progress.ts";
import { readConf } from "../node/shim-options.ts";
import { childEnv } from "../shell.ts";

interface DemoOptions {
  readonly isOnce: boolean;
  /** Serves a page that shows the demo's daemon; undefined where it cannot. */
  readonly serve: (context: Context) => Promise<(AsyncDisposable & { readonly url: string }) | undefined>;
}

/** Runs all of Levee on this machine without a cluster: start, attach, show, wait, and clean up. */
export async function runDemo(outer: Context, options: DemoOptions): Promise<void> {
  const { shell } = outer;
  const binDir = requireMachine(outer);
  const site = demoSite(existsSync("/proc/net/if_inet6"));
  const context: Context = {
    shell,
    settings: {
      ...outer.settings,
      socketDir: site.runDir,
      stateDir: site.stateDir,
      directory: sitePaths(site).directory,
    },
  };
  await using _lock = await takeLock("levee-demo");
  await removeStale(context, site);
  refuseTakenNames(site);
  const children: Child[] = [];
  try {
    await prepareSite(context, site, binDir);
    await startChildren(context, site, children);
    const end = new AbortController();
    const ended = endOf(children, shell.interrupted, end);
    ended.catch(() => undefined); // Awaited below; until then an early end must not count as an unhandled rejection.
    // Ends when `end` is aborted. We await it, because no attach may run while the rest is removed.
    const shown = await show({ ...context, shell: { ...shell, interrupted: end.signal } }, site, children).catch(
      async (error: unknown) => {
        await (end.signal.aborted && !shell.interrupted.aborted ? ended : undefined);
        throw error;
      },
    );
    shell.stdout.write(shown);
    if (options.isOnce) return;
    await using served = await options.serve(context);
    const paint = paintFor(shell.stdout, shell.env);
    shell.stdout.write(howToGoOn(site, { levee: shell.self.join(" "), console: served?.url }, paint));
    await ended;
  } finally {
    await leave(context, site, children);
  }
}

/** Resolves on Ctrl-C, rejects when a child ends by itself; both abort `end`. */
async function endOf(children: readonly Child[], interrupted: AbortSignal, end: AbortController): Promise<void> {
  try {
    await Promise.race([whenInterrupted(interrupted), ...children.map((child) => child.failure())]);
  } finally {
    end.abort();
  }
}

async function removeStale(context: Context, site: Site): Promise<void> {
  const { removed, left } = await withProgress(context.shell, "Removing what an earlier demo left", () =>
    cleanSite(context, site),
  );
  if (removed.length > 0)
    context.shell.stdout.write(`An earlier demo was killed; removed what it left: ${removed.join(", ")}\n`);
  if (left.length > 0)
    throw new CommandFailure("leftovers", `Cannot remove what an earlier demo left: ${left.join(", ")}`, {
      remedy: "remove it by hand, then start again",
    });
}

/** Adds each child to `children` at once, so that everything that was started is also stopped. */
async function startChildren(context: Context, site: Site, children: Child[]): Promise<void> {
  const { shell, settings } = context;
  const paths = sitePaths(site);
  children.push(
    await Child.start({
      name: "daemon",
      command: [...shell.self, "daemon", "--config", paths.config],
      env: childEnv(shell),
      log: paths.daemonLog,
    }),
  );
  const hand = [settings.shim, "--resident", "--socket-dir", site.runDir] as const;
  children.push(
    await Child.start({
      name: "resident hand",
      command: hand,
      env: childEnv(shell, { CNI_PATH: settings.cniPath }),
      log: paths.handLog,
    }),
  );
}

async function show(context: Context, site: Site, children: readonly Child[]): Promise<string> {
  const { shell } = context;
  await withProgress(shell, "Waiting for the daemon and its resident hand", () => untilReady(context));
  const startMs = shell.clock.monotonicMs();
  const networks = splitNetworks(
    parseNetworks(site.networks.map(({ name }) => name).join(","), site.pod.namespace),
    undefined,
  );
  const attached = await attachPod(context, {
    pod: site.pod,
    ...networks,
    conf: await readConf(undefined, context.settings),
  });
  const tookMs = shell.clock.monotonicMs() - startMs;
  const [daemon, hand] = await Promise.all(children.map(({ pid }) => memoryOf(pid)));
  const facts: DemoFacts = {
    attached,
    tookMs,
    reaches: await reachGateways(context, site, attached.interfaces),
    memory: { daemon, hand },
  };
  if (facts.reaches.some(({ isReached }) => !isReached))
    context.shell.stderr.write("Warning: a gateway could not be reached, see below\n");
  return gotText(facts, paintFor(shell.stdout, shell.env));
}

const readyTimeoutMs = 30_000;
const readyPollMs = 100;

/** Waits until the socket answers and the hand is connected. */
async function untilReady(context: Context): Promise<void> {
  const { clock, interrupted } = context.shell;
  const endMs = clock.monotonicMs() + readyTimeoutMs;
  for (;;) {
    const node = await askDaemon(context, { ask: "node" }).catch((error: unknown) => {
      if (isUnreachable(error)) return undefined;
      throw error;
    });
    if (node !== undefined && node.residentHands.length > 0) return;
    if (clock.monotonicMs() > endMs) {
      const missing = node === undefined ? "daemon" : "resident hand";
      throw new CommandFailure(
        "not-ready",
        `Cannot continue the demo: the ${missing} was not ready within ${readyTimeoutMs / 1000} s`,
        { remedy: `see ${context.settings.stateDir}/daemon.log and hand.log while it waits` },
      );
    }
    await clock.sleep(readyPollMs, interrupted).catch(() => {
      throw interruptedFailure("waiting for the daemon");
    });
  }
}

async function reachGateways(
  context: Context,
  site: Site,
  interfaces: readonly { readonly ips: readonly string[] }[],
): Promise<DemoFacts["reaches"]> {
  const routes = site.networks.flatMap(({ subnets }, at) =>
    subnets.map(({ gateway }) => {
      const family = gateway.includes(":");
      const address = interfaces[at]?.ips.find((one) => one.includes(":") === family)?.split("/")[0] ?? "";
      return { netns: netnsName(site.pod), address, gateway };
    }),
  );
  return await Promise.all(routes.filter(({ address }) => address !== "").map((route) => reach(context.shell, route)));
}

function whenInterrupted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Detaches every pod through the daemon, as a runtime would; then stops the daemon and removes the rest. */
async function leave(context: Context, site: Site, children: readonly Child[]): Promise<void> {
  const { shell } = context;
  // From here on Ctrl-C changes nothing, because the cleanup already runs.
  const calm: Context = { ...context, shell: { ...shell, interrupted: new AbortController().signal } };
  shell.stdout.write("\nCleaning up\n");
  const { failed } = await detachEach(calm, await attachedPods(calm), await readConf(undefined, calm.settings));
  for (const failure of failed) shell.stderr.write(`Note: ${failure.message}\n`);
  const cleaned = await withProgress(shell, "Stopping the daemon and removing what is left", async () => {
    for (const child of children.toReversed()) await child.stop(shell.clock);
    return cleanSite(calm, site);
  });
  if (cleaned.left.length > 0) throw new CommandFailure("leftovers", cleanedText(site, cleaned));
  shell.stdout.write(`${cleanedText(site, cleaned)}\n`);
}
