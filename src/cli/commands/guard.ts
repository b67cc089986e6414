import { hostname } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { JsonLogger } from "../../base/log.ts";
import type { GitMirrors } from "../../guard/git/git-mirrors.ts";
import { examples } from "../command-line.ts";
import { usageFailure } from "../failure.ts";
import { openCluster, type KubeOptions } from "../cluster/kube-access.ts";
import { guardPlaces } from "../cluster/guard-options.ts";
import type { World } from "../world.ts";

/** Each may take 64Mi of the volume that the Deployment gives them. */
const repositoriesMax = 8;

interface GuardCommandOptions extends KubeOptions {
  readonly namespace: string;
  readonly cluster: string;
  readonly metricsPort?: string;
  readonly cniDaemon?: readonly string[];
  readonly stuckAfter?: string;
  readonly alertmanager?: readonly string[];
  readonly daemonPort?: string;
  readonly gitRepository?: readonly string[];
  readonly gitFolder: string;
}

export function addGuard(program: Command, world: World): void {
  program
    .command("guard")
    .configureHelp({ showGlobalOptions: false })
    .description("Run the guard in the foreground: it looks at the whole cluster and proposes Decisions")
    .option("--namespace <name>", "where Decisions and the lease live", "levee-system")
    .option("--cluster <name>", "the label cluster of this cluster's alerts; others are not linked", "")
    .option("--metrics-port <port>", "port of /metrics and /healthz on every interface (default: none)")
    .option(
      "--alertmanager <setting>",
      "where it asks which alerts fire; several times for one that is replicated (default: nowhere)",
      several,
    )
    .option("--daemon-port <port>", "port at which it asks every node's daemon how it is (default: none is asked)")
    .option(
      "--cni-daemon <namespace/daemonset/container>",
      "a daemon that pod starts depend on, several times for several (default: Multus' and Levee's)",
      several,
    )
    .option(
      "--stuck-after <seconds>",
      "how long a pod with a node may wait before it counts as stuck, from 60 to 3600 (default: 300)",
    )
    .option(
      "--git-repository <setting>",
      "a repository that it may read and push to, and may be given several times (default: none)",
      several,
    )
    .option("--git-folder <folder>", "where it keeps copies of them; lost without harm", "/var/cache/levee-guard")
    .option("--kubeconfig <file>", "the cluster to guard (default: as kubectl, else the pod's service account)")
    .option("--context <name>", "context of the kubeconfig")
    .addHelpText(
      "after",
      [
        "\nTwo may run: one leads, by the lease levee-guard, the other takes over within 20 s. It proposes, and carries",
        "out what a person has approved. It ends with 1 when it loses the lease or a write of its records is refused, and is to be\nstarted again. While it may not look or may not take the lease it says so in its log and tries again.",
        "",
        "An Alertmanager is URL[,token=FILE][,ca=FILE][,server-name=NAME], with https where there is more than the URL.",
        "A repository is URL[,branch=NAME][,path=FOLDER][,alias=URL][,credentials=FOLDER][,push=direct], see docs/guard.md.",
        examples(
          "levee guard",
          "levee guard --git-repository https://git.example/infra.git,branch=main,path=apps/multus,credentials=/etc/levee-git",
          "levee guard --kubeconfig ~/.kube/config --cluster prod --alertmanager http://alertmanager.example:9093 --daemon-port 9810",
          "kubectl -n levee-system get decisions",
        ),
      ].join("\n"),
    )
    .action((options: GuardCommandOptions) => guard(world, options));
}

function several(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

async function guard(world: World, options: GuardCommandOptions): Promise<void> {
  const { clock } = world;
  const asked = guardPlaces(options);
  const logger = new JsonLogger({ clock, level: "info", write: (line) => world.stderr.write(line) });
  // Loaded late: no other command needs it.
  const { runGuard } = await import("../../guard/run-guard.ts");
  const { defaultGuardSettings } = await import("../../guard/facts/guard-settings.ts");
  const { cniDaemons = defaultGuardSettings.cniDaemons, stuckAfterMs, ...places } = asked;
  const identity = `${hostname()}-${Buffer.from(clock.randomBytes(4)).toString("hex")}`;
  const settings = {
    ...defaultGuardSettings,
    namespace: options.namespace,
    cluster: options.cluster,
    cniDaemons,
    ...(stuckAfterMs === undefined ? {} : { stuckAfterMs }),
  };
  const git = await gitOf(world, options);
  const api = await openCluster(world, options);
  try {
    await runGuard({ api, clock, logger, settings, identity, git, ...places }, world.interrupted);
  } finally {
    logger.flush();
    api.close();
    git.discard();
  }
}

async function gitOf({ clock }: World, { gitRepository = [], gitFolder }: GuardCommandOptions): Promise<GitMirrors> {
  const { GitMirrors: Mirrors } = await import("../../guard/git/git-mirrors.ts");
  const { parseGitRepository } = await import("../../guard/git/git-repository.ts");
  if (gitRepository.length > repositoriesMax)
    throw usageFailure(`--git-repository is there ${gitRepository.length} times`, `give at most ${repositoriesMax}`);
  // Two guards on one machine do not share copies; in a pod the number is always the same, so nothing piles up.
  const folder = join(gitFolder, String(process.pid));
  return new Mirrors({ clock, repositories: gitRepository.map(parseGitRepository), folder });
}
