import type { Command } from "commander";
import type { AttachmentView } from "../../wire/node-view.ts";
import { contextOf, examples } from "../command-line.ts";
import type { Context } from "../context.ts";
import { CommandFailure, usageFailure } from "../failure.ts";
import { parsePod, requireSubdomain, type PodKey } from "../node/names.ts";
import { readAttachments, readTimeline } from "../node/node-source.ts";
import { paintFor } from "../terminal/paint.ts";
import { outcomeOf } from "../node/pod-outcome.ts";
import { print } from "../terminal/print.ts";
import { timelineText } from "../node/timeline-text.ts";
import type { Shell } from "../shell.ts";

export function addWhy(program: Command, shell: Shell): void {
  const command = program
    .command("why <name>")
    .description("Tell the story of one pod: each step, plugin, time and error, and what it amounts to")
    .option("-n, --namespace <name>", "the pod's namespace (default: default)")
    .addHelpText(
      "after",
      [
        "\nNAME is a pod, NAMESPACE/NAME, or the first 6 or more characters of a container ID (levee ls -o wide).",
        "Of a pod that is not attached: where it waits and behind whom, or when it is tried again and why not now.",
        "The story is read from the flight recorder (STATE-DIR/recorder, recorderBytes), which outlives the daemon;",
        "without a daemon it is read from there and from the journal. -o wide adds times of day, UIDs and exit codes.",
        examples(
          "levee why web",
          "levee why shop/web -o wide",
          "levee why 0a1b2c3d4e5f",
          "levee why web -o json | jq '.outcome, .now'",
        ),
      ].join("\n"),
    );
  command.action(async (name: string, options: { readonly namespace?: string }) => {
    const context = contextOf(command, shell);
    const asked = parseSubject(name, options.namespace);
    const all = await readAttachments(context);
    const pod = options.namespace === undefined ? subjectAmong(all.answer.attachments, name, asked) : asked;
    const timeline = await storyOf(context, pod, { name, source: all.source });
    const attachments = all.answer.attachments.filter((view) => isSame(view, pod));
    if (timeline.answer.entries.length === 0 && attachments.length === 0) throw unknownPod(name);
    const nowMs = shell.clock.wallMs();
    const paint = paintFor(shell.stdout, shell.env);
    print(shell.stdout, context.settings.output, {
      value: {
        source: timeline.source,
        outcome: outcomeOf({ timeline: timeline.answer, attachments }),
        ...timeline.answer,
        attachments,
      },
      text: () => timelineText({ timeline: timeline.answer, attachments, nowMs, paint }),
      wide: () => timelineText({ timeline: timeline.answer, attachments, nowMs, paint, isWide: true }),
    });
  });
}

/** Of a pod of that name, else of a container whose ID begins so and that was never attached. */
async function storyOf(
  context: Context,
  pod: PodKey,
  { name, source }: { readonly name: string; readonly source: "daemon" | "disk" },
): ReturnType<typeof readTimeline> {
  const timeline = await readTimeline(context, pod, source);
  if (timeline.answer.entries.length > 0 || !containerIdPrefix.test(name)) return timeline;
  const byContainer = await readTimeline(context, { namespace: "", name }, source);
  return byContainer.answer.entries.length > 0 ? byContainer : timeline;
}

/** Longer than any pod's name can be in one label: a container ID, as `levee ls -o wide` and the runtimes show it. */
const containerId = /^[0-9a-f]{64}$/u;

function parseSubject(name: string, namespaceOption: string | undefined): PodKey {
  return containerId.test(name) ? { namespace: "", name } : parsePod(name, namespaceOption, requireSubdomain);
}

/** Shorter ones are too likely to be a pod's name, or to mean several. */
const containerIdPrefix = /^[0-9a-f]{6,63}$/u;

/** The pod of that name; when there is none, the owner of the one container whose ID begins so. */
function subjectAmong(views: readonly Owner[], name: string, asked: PodKey): PodKey {
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
    `Cannot tell anything about ${name}: it is not attached, and the flight recorder has nothing of it`,
    {
      remedy: "levee ls shows every pod of this node; give --namespace for a pod of another one",
    },
  );
}
