import type { Command } from "commander";
import { contextOf, examples } from "../command-line.ts";
import type { Context } from "../context.ts";
import { requirePluginFolders } from "../node/shim-options.ts";
import { podsMax, readPlan, sizesOf, stormDefaults, type StormWords } from "../storm/plan.ts";
import { rehearse } from "../storm/rehearse.ts";
import type { Shell } from "../shell.ts";

interface StormOptions extends StormWords {
  readonly plugins?: string;
  readonly report?: string;
  readonly console?: true;
}

export function addStorm(program: Command, shell: Shell): void {
  const command = program
    .command("storm")
    .description("Rehearse a storm of pods on this machine, without a cluster, and show whether Levee holds it")
    .option("--pods <number>", "number of pods that start at once", stormDefaults.pods)
    .option("--limit <size>", "the daemon's memory limit, as in a manifest", stormDefaults.limit)
    .option("--cpu <share>", "the daemon's CPU limit, such as 100m (default: no limit)")
    .option(
      "--second <number>",
      "number of pods of a second namespace that start during the storm",
      stormDefaults.second,
    )
    .option("--second-after <time>", "when the second pods start", stormDefaults.secondAfter)
    .option("--second-within <time>", "how long each second pod may wait", stormDefaults.secondWithin)
    .option("--critical", "make the second pods critical, like a node's own services")
    .option("--delegate <file...>", "your own CNI conf or conflist; the first one is the pods' default network")
    .option("--plugins <folder>", "folder of the CNI plugins (LEVEE_CNI_PATH; default: as for levee attach)")
    .option("--shim <file>", "the shim to run (LEVEE_SHIM; default: levee-shim beside this program)")
    .option(
      "--work-dir <folder>",
      "folder for the daemon's program and journal during the storm",
      stormDefaults.workDir,
    )
    .option(
      "--read-ahead <KiB>",
      "put these files on a separate disk with this read-ahead; node: use the node's disk (default: 128 if the node's disk reads further)",
    )
    .option("--timeout <time>", "pods that are not attached by then count as lost", stormDefaults.timeout)
    .option("--seed <number>", "seed of the waits between kubelet's retries", stormDefaults.seed)
    .option("--until-it-breaks", "double the pods until a storm does not hold, and show the last size that held")
    .option("--max-pods <number>", `the largest size of --until-it-breaks, at most ${podsMax}`, stormDefaults.maxPods)
    .option("--report <file>", "write a self-contained HTML page with plots")
    .option("--console", "watch the storm in a browser on this machine: the page of levee console")
    .addHelpText(
      "after",
      [
        "\nThe daemon runs in a cgroup with these limits. Shims and plugins are the real ones. Each pod has a network",
        "namespace, and a failed pod is deleted and retried as kubelet does. Levee holds the storm if all pods are attached in",
        "time, nothing is killed or restarted, the second namespace does not wait, and the deleted pods leave nothing behind.",
        "Exit status 1 if it does not hold.",
        "",
        `It uses its own names (/run/levee-storm, WORK-DIR/levee-storm, bridges lvstorm-*, the cgroup levee-storm) and leaves`,
        "nothing behind; the next storm removes what a killed one left. It needs root, iproute2 and the plugins bridge and host-local.",
        examples(
          "levee storm --pods 219 --limit 50Mi",
          "levee storm --pods 219 --limit 50Mi --cpu 100m --critical --second-within 1.5s",
          "levee storm --pods 219 --console",
          "levee storm --until-it-breaks --report storm.html",
          "levee storm --delegate /etc/cni/net.d/10-site.conflist --plugins /opt/cni/bin -o json",
        ),
      ].join("\n"),
    );
  command.action(async (options: StormOptions) => {
    const outer = contextOf(command, shell);
    const context: Context = {
      ...outer,
      settings: options.plugins === undefined ? outer.settings : { ...outer.settings, cniPath: options.plugins },
    };
    requirePluginFolders(context.settings, "--plugins");
    const plan = readPlan(options);
    await rehearse(context, {
      plan,
      sizes: sizesOf(plan, options),
      isUntilItBreaks: options.untilItBreaks === true,
      report: options.report,
      ...(options.console === true ? { invite: (await import("../console/watch-node.ts")).inviteAudience } : {}),
    });
  });
}
