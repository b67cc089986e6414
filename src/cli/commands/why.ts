import type { Command } from "commander";
import type { AttachmentView } from "../../wire/node-view.ts";
import { contextOf, examples } from "../command-line.ts";
import { CommandFailure, usageFailure } from "../failure.ts";
import { parsePod, requireSubdomain, type PodKey } from "../names.ts";
import { readAttachments, readTimeline } from "../node-source.ts";
import { paintFor } from "../paint.ts";
import { outcomeOf } from "../pod-outcome.ts";
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
        "\nNAME is a pod, NAMESPACE/NAME, or the first 6 or more characters of a container ID (levee ls -o wide).",
        "The daemon keeps the steps in memory since its start; without a daemon the journal on disk tells what it knows.",
        examples("levee why web", "levee why shop/web", "levee why web -o json | jq .outcome"),
      ].join("\n"),
    );
  command.action(async (name: string, options: { readonly namespace?: string }) => {
    const context = contextOf(command, world);
    const asked = parseSubject(name, options.namespace);
    const all = await readAttachments(context);
    const pod = options.namespace === undefined ? subjectAmong(all.answer.attachments, name, asked) : asked;
    const timeline = await readTimeline(context, pod, all.source);
    const attachments = all.answer.attachments.filter((view) => isSame(view, pod));
    if (timeline.answer.entries.length === 0 && attachments.length === 0) throw unknownPod(name);
    const nowMs = world.clock.wallMs();
    const paint = paintFor(world.stdout, world.env);
    print(world.stdout, context.settings.output, {
      value: {
        source: timeline.source,
        outcome: outcomeOf({ timeline: timeline.answer, attachments }),
        ...timeline.answer,
        attachments,
      },
      text: () => timelineText({ timeline: timeline.answer, attachments, nowMs, paint }),
    });
  });
}

/** Longer than any pod's name can be in one label: a container ID, as `levee ls -o wide` and the runtimes show it. */
const containerId = /^[0-9a-f]{64}$/u;

export function parseSubject(name: string, namespaceOption: string | undefined): PodKey {
  return containerId.test(name) ? { namespace: "", name } : parsePod(name, namespaceOption, requireSubdomain);
}

/** Shorter ones are too likely to be a pod's name, or to mean several. */
const containerIdPrefix = /^[0-9a-f]{6,63}$/u;

/** The pod of that name; when there is none, the owner of the one container whose ID begins so. */
export function subjectAmong(views: readonly Owner[], name: string, asked: PodKey): PodKey {
  if (!containerIdPrefix.test(name) || views.some((view) => isSame(view, asked))) return asked;
  const owners = views.filter((view) => view.containerId.startsWith(name));
  const [owner] = owners;
  if (owner === undefined) return asked;
  if (owners.length > 1) throw ambiguous(name, owners);
  return owner.pod === ""
    ? { namespace: "", name: owner.containerId }
    : { namespace: owner.namespace, name: owner.pod };
}

type Owner = Pick<AttachmentView, "namespace" | "pod" | "containerId">;

function ambiguous(name: string, owners: readonly Owner[]): CommandFailure {
  const ids = owners.map(({ containerId: id }) => id).join(", ");
  return usageFailure(`Cannot tell which container ${name} is: ${ids} begin so`, "more characters of the ID");
}

function isSame(view: Owner, pod: PodKey): boolean {
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
