import type { Command } from "commander";
import {
  addClusterOptions,
  clusterExitText,
  guardNamespaceOf,
  type ClusterCommandOptions,
} from "../cluster/cluster-options.ts";
import { withCluster } from "../cluster/with-cluster.ts";
import { contextOf, examples } from "../command-line.ts";
import { usageFailure } from "../failure.ts";
import { requireSubdomain } from "../node/names.ts";
import type { Shell } from "../shell.ts";
import { print, type OutputFormat } from "../terminal/print.ts";
import { createException, removeException } from "./except.ts";
import { gatePlace } from "./gate-place.ts";
import { exceptionTable } from "./gate-table.ts";
import { exceptionView, matchText } from "./gate-view.ts";
import { parseMatch, parseReason, parseUntil } from "./person-words.ts";
import { readExceptions } from "./read-gates.ts";

const formats: readonly OutputFormat[] = ["table", "wide", "json", "yaml", "name"];
const exampleLabels = "'alertname=NodeFilesystemFull,mountpoint=/mnt/backup'";

interface ExceptOptions extends ClusterCommandOptions {
  readonly reason?: string;
  readonly until?: string;
}

/** `levee gate except`: alerts that keep no node from its reboot, by their labels. */
export function addExcept(gate: Command, shell: Shell): void {
  const except = addClusterOptions(
    gate
      .command("except")
      .argument("[labels]", "labels that an alert must have, all of them: name=value,name=value")
      .description("Let alerts with certain labels keep no node from its reboot, until a day you name"),
  )
    .option("--reason <text>", "why; it is shown wherever the gate is shown")
    .option("--until <time>", "its end: a day, a time, or a span such as 14d; 90d at most")
    .addHelpText(
      "after",
      `${examples(
        `levee gate except ${exampleLabels} --reason 'the offsite mount may be full' --until 2026-06-30`,
        "levee gate except list",
        "levee gate except remove nodefilesystemfull-x7k2p",
      )}\n${clusterExitText}`,
    );
  except.action(async (labels: string | undefined, options: ExceptOptions) => {
    const { settings } = contextOf(except, shell, formats);
    if (labels === undefined)
      throw usageFailure("Cannot make an exception without labels", `levee gate except ${exampleLabels} …`);
    const nowMs = shell.clock.wallMs();
    const match = parseMatch(labels);
    const words = { match, reason: parseReason(options.reason), untilMs: parseUntil(options.until, nowMs) };
    const made = await withCluster(shell, options, (api) => createException(gatePlace(api, shell, options), words));
    const view = exceptionView(made, nowMs);
    print(shell.stdout, settings.output, {
      value: view,
      text: () =>
        `${view.by}: alerts with ${matchText(view.match)} keep no node from its reboot until ${view.until}\nTo end it: levee gate except remove ${view.name}\n`,
      name: () => `rebootexception.levee.dev/${view.name}\n`,
    });
  });
  addList(except, shell);
  addRemove(except, shell);
}

function addList(except: Command, shell: Shell): void {
  const list = addClusterOptions(
    except.command("list").alias("ls").description("List the exceptions, oldest first; also those that have ended"),
  ).addHelpText("after", `${examples("levee gate except list", "levee gate except list -o json")}\n${clusterExitText}`);
  list.action(async () => {
    const { settings } = contextOf(list, shell, formats);
    // `except` has the same options, and takes them wherever they are.
    const options = list.optsWithGlobals<ClusterCommandOptions>();
    const found = await withCluster(shell, options, (api) => readExceptions(gatePlace(api, shell, options)));
    const nowMs = shell.clock.wallMs();
    const views = found.map((one) => exceptionView(one, nowMs));
    print(shell.stdout, settings.output, {
      value: views,
      // A list of a namespace that does not exist is empty too, so the answer names it.
      text: () =>
        views.length === 0 ? `No exceptions in ${guardNamespaceOf(options)}\n` : exceptionTable(views, nowMs),
      name: () => views.map(({ name }) => `rebootexception.levee.dev/${name}\n`).join(""),
    });
  });
}

function addRemove(except: Command, shell: Shell): void {
  const remove = addClusterOptions(
    except
      .command("remove")
      .alias("rm")
      .argument("<name>", "name of the exception")
      .description("End an exception: its alerts block again at the guard's next look"),
  ).addHelpText("after", `${examples("levee gate except remove nodefilesystemfull-x7k2p")}\n${clusterExitText}`);
  remove.action(async (given: string) => {
    const options = remove.optsWithGlobals<ClusterCommandOptions>();
    contextOf(remove, shell);
    const bare = given.replace(/^rebootexceptions?(?:\.levee\.dev)?\//u, "");
    const name = requireSubdomain("an exception", bare, "a name as levee gate except list shows it");
    await withCluster(shell, options, (api) => removeException(gatePlace(api, shell, options), name));
    shell.stdout.write(`Removed ${name}\n`);
  });
}
