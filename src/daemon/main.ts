import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { systemClock } from "../base/clock.ts";
import { errnoOf, LeveeError, toLeveeError } from "../base/errors.ts";
import { LogOutput } from "../base/log-output.ts";
import { JsonLogger } from "../base/log.ts";
import { software } from "../base/version.ts";
import { parseDaemonConfig, type DaemonConfig } from "../config/daemon-config.ts";
import { ConfigError } from "../config/problem.ts";
import { startDaemon } from "./compose.ts";
import { configPath, daemonUsage, withPorts } from "./config-path.ts";
import { clusterPlaceOf } from "./source/kube-access.ts";
import { standardError, type StandardError } from "./standard-error.ts";

/** The same as for the commands: the command line itself is wrong. */
const usageStatus = 2;

/**
 * Runs the daemon until SIGTERM, SIGINT or SIGHUP, and resolves to the exit code. `startAgainProblem` says why it runs
 * without its engine settings.
 */
export async function runDaemon(argv: readonly string[], env: Env, startAgainProblem?: string): Promise<number> {
  const errors = standardError(systemClock);
  const status = await runWith(errors, argv, { env, startAgainProblem });
  await errors.end();
  return status;
}

type Env = Readonly<Record<string, string | undefined>>;

interface Surroundings {
  readonly env: Env;
  readonly startAgainProblem: string | undefined;
}

async function runWith(errors: StandardError, argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const commandLine = configPath(argv);
  const printError = (text: string): void => void errors.write(`Error: ${text}\n`, () => undefined);
  if ("wrong" in commandLine) {
    printError(`${commandLine.wrong}\nusage: ${daemonUsage}`);
    return usageStatus;
  }
  const stopped = new AbortController();
  // SIGHUP means a closed terminal or a wish to reload settings; the supervisor starts the daemon again.
  for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
    process.on(name, () => stopped.abort(new LeveeError("cancelled", `The daemon was asked to end by ${name}`)));
  // Without a handler, either signal would end the process.
  for (const name of ["SIGUSR1", "SIGUSR2"] as const) process.on(name, () => undefined);
  let config: DaemonConfig;
  try {
    config = withPorts(await readConfig(commandLine.path), commandLine);
  } catch (thrown) {
    printError(pageOf(thrown));
    return 1;
  }
  const output = new LogOutput(errors, systemClock);
  const logger = new JsonLogger({ clock: systemClock, level: config.logLevel, write: (line) => output.write(line) });
  process.on("SIGUSR1", () => logger.turn("louder"));
  process.on("SIGUSR2", () => logger.turn("quieter"));
  return serve({ config, logger, output, ...surroundings }, stopped.signal);
}

function pageOf(thrown: unknown): string {
  if (thrown instanceof ConfigError) return thrown.page;
  const error = toLeveeError(thrown, "Cannot read the configuration");
  return `${error.message} (${error.code})`;
}

interface Process extends Surroundings {
  readonly config: DaemonConfig;
  readonly logger: JsonLogger;
  readonly output: LogOutput;
}

async function serve(of: Process, stopped: AbortSignal): Promise<number> {
  const { config, logger, output, env } = of;
  using _flushed = { [Symbol.dispose]: () => logger.flush() };
  dieOfDefects(logger);
  warnOfEngine(logger, of);
  try {
    const cluster = clusterPlaceOf(env, hostname());
    const daemon = await startDaemon(
      {
        config,
        clock: systemClock,
        logger,
        logCounts: () => ({ written: logger.written, summed: logger.summed, dropped: output.dropped }),
        software,
        cluster,
        ...faultOf(env),
      },
      stopped,
    );
    await aborted(stopped);
    logger.info("The daemon is ending");
    await daemon.stop();
    return 0;
  } catch (thrown) {
    const isWaiting = stopped.aborted && thrown === stopped.reason;
    if (isWaiting) return 0;
    const error = toLeveeError(thrown, stopped.aborted ? "Cannot end in order" : "Cannot start the daemon");
    logger.error(error.message, { code: error.code });
    return 1;
  }
}

function warnOfEngine(logger: JsonLogger, { env, startAgainProblem }: Surroundings): void {
  if (startAgainProblem !== undefined)
    logger.warn("The daemon cannot restart itself with its engine settings, so it takes more memory", {
      reason: startAgainProblem,
    });
  else if (env["BUN_JSC_useJIT"] !== "0")
    logger.warn("The daemon runs with the JIT on and takes more memory than it needs; unset BUN_JSC_useJIT", {
      BUN_JSC_useJIT: env["BUN_JSC_useJIT"] ?? "",
    });
}

/** A defect ends the process at once: the journal makes a restart safe, while an unknown state is not. */
function dieOfDefects(logger: JsonLogger): void {
  const die = (thrown: unknown): void => {
    logger.error("The daemon is ending because of a defect", {
      reason: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown),
    });
    logger.flush();
    process.exit(70);
  };
  process.on("uncaughtException", die);
  process.on("unhandledRejection", die);
}

async function readConfig(path: string): Promise<DaemonConfig> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    throw new LeveeError(
      "setting-invalid",
      `Cannot read the daemon's configuration ${path}: ${errnoOf(cause) ?? "unknown"}; name it with --config FILE`,
      { cause },
    );
  }
  return parseDaemonConfig(text, path);
}

/** `LEVEE_FAULT=journal-write:N` kills the daemon after its Nth journal write, for the kill matrix in test/crash. */
function faultOf(env: Env): { onJournalWritten?: (count: number) => void } {
  const match = /^journal-write:(\d+)$/.exec(env["LEVEE_FAULT"] ?? "");
  if (match === null) return {};
  const fatal = Number(match[1]);
  return {
    onJournalWritten: (count) => {
      if (count === fatal) process.kill(process.pid, "SIGKILL");
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
