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
    .description("Show what happened to a pod: each step, plugin, time and error, and the outcome")
    .option("-n, --namespace <name>", "the pod's namespace (default: default)")
    .addHelpText(
      "after",
      [
        "\nNAME is a pod, NAMESPACE/NAME, or at least the first 6 characters of a container ID (levee ls -o wide).",
        "For a pod that is not attached, it shows the position in line, or the time of the next attempt and the reason for the wait.",
        "The data comes from the flight recorder (STATE-DIR/recorder, recorderBytes), which outlives the daemon. Without a daemon",
        "the command reads it from there and from the journal. -o wide adds times of day, UIDs and exit codes.",
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

/** The timeline of the pod with that name, else of a container whose ID begins so and that was never attached. */
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

/** A whole container ID. It is longer than a label, so it cannot be a pod's name. */
const containerId = /^[0-9a-f]{64}$/u;

function parseSubject(name: string, namespaceOption: string | undefined): PodKey {
  return containerId.test(name) ? { namespace: "", name } : parsePod(name, namespaceOption, requireSubdomain);
}

/** A shorter prefix is probably a pod's name, or fits several containers. */
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
  return usageFailure(`Cannot tell which container ${name} is: ${ids} begin with it`, "more characters of the ID");
}

function isSame(view: Owner, pod: PodKey): boolean {
  return pod.namespace === ""
    ? view.containerId === pod.name
    : view.namespace === pod.namespace && view.pod === pod.name;
}

function unknownPod(name: string): CommandFailure {
  return new CommandFailure(
    "pod-unknown",
    `Cannot find ${name}: it is not attached, and the flight recorder has nothing about it`,
    {
      remedy: "levee ls shows every pod of this node; use --namespace for a pod outside the namespace default",
    },
  );
}
