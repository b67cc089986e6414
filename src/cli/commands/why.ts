import type { Command } from "commander";
import { contextOf, examples } from "../command-line.ts";
import { CommandFailure } from "../failure.ts";
import { parsePod, type PodKey } from "../names.ts";
import { readAttachments, readTimeline } from "../node-source.ts";
import { paintFor } from "../paint.ts";
import { print } from "../print.ts";
import { timelineText } from "../timeline-text.ts";
import type { World } from "../world.ts";

export function addWhy(program: Command, world: World): void {
  const command = program
    .command("why <name>")
    .description("Tell the story of one pod: each step, plugin, time and error, and what it amounts to")
    .option("-n, --namespace <name>", "the pod's namespace (default: default)")
    .addHelpText(
      "after",
      [
        "\nNAME is a pod, NAMESPACE/NAME, or for runtimes that give pods no name the whole container ID (levee ls -o json).",
        "The daemon keeps the steps in memory since its start; without a daemon the journal on disk tells what it knows.",
        examples(
          "levee why web",
          "levee why shop/web",
          "levee why web -o json | jq '.entries[] | select(.what == \"failed\")'",
        ),
      ].join("\n"),
    );
  command.action(async (name: string, options: { readonly namespace?: string }) => {
    const context = contextOf(command, world);
    const pod = parseSubject(name, options.namespace);
    const timeline = await readTimeline(context, pod);
    const all = await readAttachments(context, timeline.source);
    const attachments = all.answer.attachments.filter((view) => isSame(view, pod));
    if (timeline.answer.entries.length === 0 && attachments.length === 0) throw unknownPod(name);
    const nowMs = world.clock.wallMs();
    const paint = paintFor(world.stdout, world.env);
    print(world.stdout, context.settings.output, {
      value: { source: timeline.source, ...timeline.answer, attachments },
      text: () => timelineText({ timeline: timeline.answer, attachments, nowMs, paint }),
    });
  });
}

/** Longer than any pod's name can be in one label: a container ID, as `levee ls -o wide` and the runtimes show it. */
const containerId = /^[0-9a-f]{64}$/u;

export function parseSubject(name: string, namespaceOption: string | undefined): PodKey {
  return containerId.test(name) ? { namespace: "", name } : parsePod(name, namespaceOption);
}

function isSame(
  view: { readonly namespace: string; readonly pod: string; readonly containerId: string },
  pod: PodKey,
): boolean {
  return pod.namespace === ""
    ? view.containerId === pod.name
    : view.namespace === pod.namespace && view.pod === pod.name;
}

function unknownPod(name: string): CommandFailure {
  return new CommandFailure(
    "pod-unknown",
    `Cannot tell anything about ${name}: it is not attached, and nothing happened to it since the daemon started`,
    {
      remedy: "levee ls shows every pod of this node; give --namespace for a pod of another one",
    },
  );
}
