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
}

export function addStorm(program: Command, shell: Shell): void {
  const command = program
    .command("storm")
    .description("Rehearse a storm of pods on this machine, without a cluster, and say whether Levee holds it")
    .option("--pods <number>", "pods that come all at once", stormDefaults.pods)
    .option("--limit <size>", "memory of the daemon, as in a manifest", stormDefaults.limit)
    .option("--cpu <share>", "CPU of the daemon, such as 100m (default: no limit)")
    .option("--second <number>", "pods of a second namespace that come in the middle", stormDefaults.second)
    .option("--second-after <time>", "when they come", stormDefaults.secondAfter)
    .option("--second-within <time>", "how long each of them may wait", stormDefaults.secondWithin)
    .option("--critical", "they are critical pods, such as a node's own services")
    .option("--delegate <file...>", "the site's own CNI conf or conflist; the first is the pods' default network")
    .option("--plugins <folder>", "where plugins are looked for (LEVEE_CNI_PATH; default: as of attach)")
    .option("--shim <file>", "the shim to run (LEVEE_SHIM; default: levee-shim beside this program)")
    .option("--work-dir <folder>", "where the daemon's program and journal are put meanwhile", stormDefaults.workDir)
    .option(
      "--read-ahead <KiB>",
      "put them on a disk of their own that reads so far ahead; node: on the node's, as it is (default: 128 when the node's reads further)",
    )
    .option("--timeout <time>", "pods that are not attached by then are lost", stormDefaults.timeout)
    .option("--seed <number>", "decides the waits between kubelet's tries", stormDefaults.seed)
    .option("--until-it-breaks", "double the pods until a storm does not hold, and say which was the last that did")
    .option("--max-pods <number>", `where --until-it-breaks ends, at most ${podsMax}`, stormDefaults.maxPods)
    .option("--report <file>", "write a page with plots, complete in itself")
    .addHelpText(
      "after",
      [
        "\nThe daemon runs in a cgroup with the limits named; shims and plugins are the real ones, each pod has a network",
        "namespace, and a pod that fails is deleted and tried again as kubelet does it. It holds when all pods are attached in",
        "time, nothing is killed or restarted, the second namespace does not wait, and nothing is left after the pods are deleted.",
        "Exit status 1 when it does not hold.",
        "",
        `Uses names of its own (/run/levee-storm, WORK-DIR/levee-storm, bridges lvstorm-*, the cgroup levee-storm) and leaves`,
        "nothing behind; what a killed one left is removed by the next. Needs root, iproute2 and the plugins bridge and host-local.",
        examples(
          "levee storm --pods 219 --limit 50Mi",
          "levee storm --pods 219 --limit 50Mi --cpu 100m --critical --second-within 1.5s",
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
    });
  });
}
