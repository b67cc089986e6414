import { writeFileAtomically } from "../../base/atomic-file.ts";
import { errnoOf } from "../../base/errors.ts";
import { exportPage } from "../../console/export/export-page.ts";
import type { RefusalCounts } from "../../console/serve/refusal-counts.ts";
import { ApiClient } from "../../kube/client/api-client.ts";
import { kubeAccess } from "../cluster/kube-access.ts";
import { outOfReach } from "../cluster/with-cluster.ts";
import type { Context } from "../context.ts";
import { CommandFailure, exitCode, interruptedFailure } from "../failure.ts";
import { isListening } from "../node/ask.ts";
import { socketPath } from "../settings.ts";
import { print } from "../terminal/print.ts";
import { hasScreen, openBrowser, type OpenedBrowser } from "./browser.ts";
import { composeCluster, composeNode, type ComposedConsole } from "./compose-console.ts";
import type { ConsoleOptions } from "./console-options.ts";
import { silentLogger, type Logger } from "../../base/log.ts";
import { consoleMetrics } from "../../console/serve/console-metrics.ts";
import { openMetricsPort } from "../../guard/metrics/metrics-port.ts";
import { portOf } from "../cluster/port-option.ts";
import { noteLogger } from "./note-logger.ts";
import { serveConsole, type ServedConsole } from "./serve-console.ts";

/** Serves the console until Ctrl-C, or writes it into a file. */
export async function runConsole(context: Context, options: ConsoleOptions): Promise<void> {
  const logger = noteLogger(context.shell);
  const composed = await compose(context, options);
  if (options.export !== undefined) return await writeExport(context, composed, options.export);
  const { shell } = context;
  await using served = await serveConsole(shell, composed, { ...options, logger });
  using _health = openHealth(options, { composed, served, logger });
  await using _browser = await offer(context, served.url, options);
  await untilInterrupted(shell.interrupted);
  tellRefusals(context, served.server.refusals);
}

/** For kubelet's probes, which have no token. It tells numbers and nothing of the cluster. */
function openHealth(
  { healthPort }: ConsoleOptions,
  parts: { readonly composed: ComposedConsole; readonly served: ServedConsole; readonly logger: Logger },
): Disposable {
  if (healthPort === undefined) return nothingOpen;
  const { composed, served, logger } = parts;
  let isReady = false;
  void composed.ready().then(() => (isReady = true));
  const metrics = (): string => consoleMetrics(served.server);
  return openMetricsPort(portOf("--health-port", healthPort, "9813"), { metrics, isReady: () => isReady }, logger);
}

/** The cluster of the kubeconfig; where there is none, this machine's daemon. */
async function compose(context: Context, options: ConsoleOptions): Promise<ComposedConsole> {
  if (options.node === true) return await composeNodeHere(context);
  try {
    const access = await kubeAccess(context.shell, options);
    await requireServer(context, access);
    // The page shows which facts are old; a line for each attempt would only fill the terminal.
    return await composeCluster({ context, access, options, logger: silentLogger });
  } catch (thrown) {
    if (context.shell.interrupted.aborted) throw interruptedFailure("asking the cluster");
    if (!isWithoutCluster(thrown, options)) throw outOfReach(thrown) ?? thrown;
    if (await isListening(socketPath(context.settings))) return await composeNode(context);
    throw nothingToShow(context, thrown);
  }
}

/** There is no kubeconfig, and nobody named one. */
function isWithoutCluster(thrown: unknown, options: ConsoleOptions): thrown is CommandFailure {
  const isAsked = [options.kubeconfig, options.context, options.inCluster].some((value) => value !== undefined);
  return !isAsked && thrown instanceof CommandFailure && thrown.code === "usage";
}

/** A socket without a daemon is worth a line now rather than an empty page. */
async function composeNodeHere(context: Context): Promise<ComposedConsole> {
  const socket = socketPath(context.settings);
  if (await isListening(socket)) return await composeNode(context);
  throw new CommandFailure("daemon-unreachable", `Cannot show this node: no daemon listens on ${socket}`, {
    remedy: "start the daemon (levee demo starts one), or name its folder with --socket-dir",
  });
}

function nothingToShow({ settings }: Context, { message }: CommandFailure): CommandFailure {
  return new CommandFailure(
    "nothing-to-show",
    `${message}, and no daemon listens on ${socketPath(settings)} on this machine`,
    { remedy: "--kubeconfig FILE, or levee demo in another terminal", exitCode: exitCode.usage },
  );
}

const reachMs = 10_000;

async function requireServer({ shell }: Context, access: Awaited<ReturnType<typeof kubeAccess>>): Promise<void> {
  const api = new ApiClient({ access, clock: shell.clock });
  try {
    await api.call({ method: "GET", path: "/version", deadlineMs: reachMs, signal: shell.interrupted });
  } finally {
    api.close();
  }
}

async function writeExport({ shell }: Context, composed: ComposedConsole, file: string): Promise<void> {
  composed.desk.start();
  try {
    await composed.ready();
    const { view } = await composed.viewers.of({ authorization: undefined, proxyToken: undefined, isLoopback: true });
    const page = exportPage({ ...composed.desk.parts(), revision: 1, viewer: view });
    await writeFileAtomically(file, page, { mode: 0o644, sync: true });
    shell.stdout.write(`${file} has what the console shows now\n`);
  } catch (thrown) {
    if (shell.interrupted.aborted) throw interruptedFailure("looking at the cluster");
    if (errnoOf(thrown) === undefined) throw thrown;
    throw new CommandFailure("io-failed", `Cannot write ${file}: ${errnoOf(thrown) ?? ""}`, {
      remedy: "another --export FILE",
      cause: thrown,
    });
  } finally {
    await composed.close();
  }
}

/** Prints the address, and opens it where there is a screen. */
async function offer(context: Context, url: string, options: ConsoleOptions): Promise<AsyncDisposable> {
  const { shell, settings } = context;
  print(shell.stdout, settings.output, {
    value: { url },
    text: () =>
      `The console is at ${url}\nThe address is your key to it: give it to nobody. Ctrl-C ends the console.\n`,
  });
  if (!options.open || options.inCluster === true) return nothingOpen;
  if (!hasScreen(shell)) return nothingOpen;
  const opened: OpenedBrowser = await openBrowser(shell, url);
  if (!opened.isOpen) shell.stderr.write("Note: no program here opens a browser; open the address yourself\n");
  return opened;
}

const nothingOpen: AsyncDisposable & Disposable = {
  [Symbol.asyncDispose]: () => Promise.resolve(),
  [Symbol.dispose]: () => undefined,
};

function untilInterrupted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function tellRefusals({ shell }: Context, refusals: RefusalCounts): void {
  const counts = [...refusals.all()].map(([code, count]) => `${count} × ${code}`);
  if (counts.length > 0) shell.stderr.write(`Note: requests that were refused: ${counts.join(", ")}\n`);
}
