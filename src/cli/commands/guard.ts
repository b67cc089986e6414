import { hostname } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { JsonLogger } from "../../base/log.ts";
import type { GitMirrors } from "../../guard/git/git-mirrors.ts";
import { examples } from "../command-line.ts";
import { usageFailure } from "../failure.ts";
import { openKubeApi, type KubeOptions } from "../cluster/kube-access.ts";
import { addGateOptions, gateSettings, type GateOptions } from "../cluster/gate-options.ts";
import { guardPlaces } from "../cluster/guard-options.ts";
import type { Shell } from "../shell.ts";

/** Each mirror may take 64Mi of the Deployment's volume. */
const repositoriesMax = 8;

interface GuardCommandOptions extends KubeOptions, GateOptions {
  readonly namespace: string;
  readonly cluster: string;
  readonly metricsPort?: string;
  readonly cniDaemon?: readonly string[];
  readonly stuckAfter?: string;
  readonly lowerAfter?: string;
  readonly verifyUrl?: readonly string[];
  readonly prometheus?: string;
  readonly alertmanager?: readonly string[];
  readonly daemonPort?: string;
  readonly gitRepository?: readonly string[];
  readonly gitFolder: string;
}

export function addGuard(program: Command, shell: Shell): void {
  const command = program
    .command("guard")
    .configureHelp({ showGlobalOptions: false })
    .description("Run the guard in the foreground: it watches the whole cluster and proposes Decisions")
    .option("--namespace <name>", "namespace of the Decisions and the lease", "levee-system")
    .option("--cluster <name>", "value of the label cluster in this cluster's alerts; other alerts are not linked", "")
    .option("--metrics-port <port>", "port of /metrics and /healthz on every interface (default: none)")
    .option(
      "--alertmanager <setting>",
      "Alertmanager to ask for firing alerts; repeat it for replicas (default: none)",
      several,
    )
    .option("--daemon-port <port>", "port on which it asks every node's daemon for its state (default: it asks none)")
    .option(
      "--cni-daemon <namespace/daemonset/container>",
      "a daemon that pod starts depend on; may be repeated (default: those of Multus, RKE2's Multus and Levee)",
      several,
    )
    .option(
      "--stuck-after <seconds>",
      "how long a pod with a node may wait before it counts as stuck, from 60 to 3600 (default: 300)",
    )
    .option(
      "--lower-after <days>",
      "how long a memory limit that it raised must be without pressure before it proposes to lower it, from 1 to 90, or never (default: 7)",
    )
    .option(
      "--verify-url <setting>",
      "a page of the site that must answer before a recovery is verified; may be repeated (default: none)",
      several,
    )
    .option("--prometheus <setting>", "Prometheus to ask for probe_success then, and for memory (default: none)")
    .option(
      "--git-repository <setting>",
      "a repository that it may read and push to; may be repeated (default: none)",
      several,
    )
    .option(
      "--git-folder <folder>",
      "folder for its copies of the repositories; safe to delete",
      "/var/cache/levee-guard",
    )
    .option(
      "--kubeconfig <file>",
      "kubeconfig of the cluster to guard (default: as kubectl, else the pod's service account)",
    )
    .option("--context <name>", "context in the kubeconfig")
    .addHelpText(
      "after",
      [
        "\nTwo may run: one leads, by the lease levee-guard; the other takes over within 20 s. The guard proposes Decisions, and",
        "carries out those that a person approved. It ends with 1 if it loses the lease or a write of its records is refused; start\nit again then. If it lacks the right to read the cluster or to take the lease, it logs that and retries.",
        "",
        "An Alertmanager or a Prometheus is URL[,token=FILE][,ca=FILE][,server-name=NAME]; the options need https.",
        "A page is URL[,status=CODE][,ca=FILE][,server-name=NAME]; without status= it must answer 200.",
        "A repository is URL[,branch=NAME][,path=FOLDER][,alias=URL][,credentials=FOLDER][,push=direct], see docs/guard.md.",
        examples(
          "levee guard",
          "levee guard --git-repository https://git.example/infra.git,branch=main,path=apps/multus,credentials=/etc/levee-git",
          "levee guard --kubeconfig ~/.kube/config --cluster prod --alertmanager http://alertmanager.example:9093 --daemon-port 9810",
          "kubectl -n levee-system get decisions",
        ),
      ].join("\n"),
    )
    .action((options: GuardCommandOptions) => guard(shell, options));
  addGateOptions(command, several);
}

function several(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

async function guard(shell: Shell, options: GuardCommandOptions): Promise<void> {
  const { clock } = shell;
  const asked = guardPlaces(options);
  const gate = gateSettings(options);
  const logger = new JsonLogger({ clock, level: "info", write: (line) => shell.stderr.write(line) });
  // Loaded late, because no other command needs the guard.
  const { runGuard } = await import("../../guard/run-guard.ts");
  const { defaultGuardSettings } = await import("../../guard/facts/guard-settings.ts");
  const {
    cniDaemons = defaultGuardSettings.cniDaemons,
    stuckAfterMs,
    calmForMs,
    verifyUrls,
    prometheus,
    ...places
  } = asked;
  const identity = `${hostname()}-${Buffer.from(clock.randomBytes(4)).toString("hex")}`;
  const settings = {
    ...defaultGuardSettings,
    namespace: options.namespace,
    cluster: options.cluster,
    cniDaemons,
    ...(stuckAfterMs === undefined ? {} : { stuckAfterMs }),
    ...(calmForMs === undefined ? {} : { calmForMs }),
    ...(verifyUrls === undefined ? {} : { verifyUrls }),
    ...(prometheus === undefined ? {} : { prometheus }),
  };
  const git = await gitOf(shell, options);
  const api = await openKubeApi(shell, options);
  try {
    const parts = { api, clock, logger, settings, identity, git, ...(gate === undefined ? {} : { gate }) };
    await runGuard({ ...parts, ...places }, shell.interrupted);
  } finally {
    logger.flush();
    api.close();
    git.discard();
  }
}

async function gitOf({ clock }: Shell, { gitRepository = [], gitFolder }: GuardCommandOptions): Promise<GitMirrors> {
  const { GitMirrors: Mirrors } = await import("../../guard/git/git-mirrors.ts");
  const { parseGitRepository } = await import("../../guard/git/git-repository.ts");
  if (gitRepository.length > repositoriesMax)
    throw usageFailure(`Cannot use --git-repository ${gitRepository.length} times`, `give at most ${repositoriesMax}`);
  // Two guards on one machine must not share copies. In a pod the process ID is always the same, so copies do not pile up.
  const folder = join(gitFolder, String(process.pid));
  return new Mirrors({ clock, repositories: gitRepository.map(parseGitRepository), folder });
}
