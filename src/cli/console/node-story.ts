import { oneLine } from "../../base/plain-text.ts";
import type { ConsolePodStory, StoryEntry } from "../../wire/console-story.ts";
import type { AttachmentView, TimelineAnswer, TimelineEntry } from "../../wire/node-view.ts";
import type { Context } from "../context.ts";
import { newestOf, outcomeOf } from "../node/pod-outcome.ts";
import { readAttachments, readTimeline } from "../node/node-source.ts";

/** The story of a pod of this machine, as `levee why` tells it. Undefined for a pod that nobody has seen. */
export async function nodeStory(
  context: Context,
  namespace: string,
  name: string,
): Promise<ConsolePodStory | undefined> {
  const all = await readAttachments(context);
  const { answer, source } = await readTimeline(context, { namespace, name }, all.source);
  const attachments = all.answer.attachments.filter((view) => view.namespace === namespace && view.pod === name);
  if (answer.entries.length === 0 && attachments.length === 0) return undefined;
  return storyOf(answer, attachments, source);
}

export function storyOf(
  timeline: TimelineAnswer,
  attachments: readonly AttachmentView[],
  source: "daemon" | "disk",
): ConsolePodStory {
  const { namespace, name, entries, notices = [], omitted = 0 } = timeline;
  const { state, sinceWallMs, reason } = outcomeOf({ timeline, attachments });
  return {
    namespace,
    pod: name,
    node: "",
    state,
    sinceMs: sinceWallMs,
    reason: oneLine(reason),
    source,
    why: source === "daemon" ? "" : "the daemon does not answer; this is what its journal and recorder have",
    entries: entries.map(storyEntry),
    omitted,
    networks: (newestOf(attachments)?.networks ?? []).map(({ network, ifname, ips, mac }) => ({
      ...{ network, ifname, ips, mac },
    })),
    notices: notices.map(oneLine),
    command: `levee why ${namespace}/${name}`,
  };
}

const failures: ReadonlySet<string> = new Set(["failed", "leaked", "hung", "oom-killed", "lost", "network-opened"]);

/** What each kind of entry means; a kind that is not here is shown by its name. */
const texts: Readonly<Record<string, (entry: TimelineEntry) => string>> = {
  "asked": ({ verb }) =>
    verb === "PLUG" ? "The pod's annotation asks for other networks" : `The runtime asked for ${verb}`,
  "found": () => "The pod and its networks were found",
  "waiting": () => "Waits in line for a slot",
  "upgraded": () => "Moved to the critical class",
  "permitted": () => "Got a slot",
  "planned": () => "The plan was written to the journal",
  "ran": ({ plugin = "a plugin", network = "" }) => `${plugin} ran${network === "" ? "" : ` for ${network}`}`,
  "hung": ({ plugin = "A plugin" }) => `${plugin} uses no CPU and does not end`,
  "moves-again": ({ plugin = "The plugin" }) => `${plugin} no longer hangs`,
  "oom-killed": ({ plugin = "A plugin" }) => `${plugin} was killed for memory`,
  "routed": () => "Routes were set",
  "undone": () => "What was done was undone",
  "committed": () => "All networks are attached",
  "plugged": () => "The running pod has its new networks",
  "unplugged": () => "A network was detached from the running pod",
  "published": () => "network-status was written to the pod",
  "acknowledged": () => "The runtime has the result",
  "finished": ({ verb }) => `${verb} is done`,
  "failed": ({ verb }) => `${verb} failed`,
  "charged": () => "The failure was counted against the pod",
  "lost": () => "The shim went away",
  "resumed": () => "A new daemon went on with it",
  "leaked": () => "Something could not be undone",
  "daemon-started": () => "The daemon was started",
  "daemon-ended": () => "The daemon ended",
  "network-opened": ({ network = "A network" }) => `${network} began to fail for everybody`,
  "network-closed": ({ network = "A network" }) => `${network} works again`,
};

function storyEntry(entry: TimelineEntry): StoryEntry {
  const { wallMs, what, verb, plugin, network, tookMs, detail, stderr } = entry;
  const said = [detail, stderr].filter((text) => text !== undefined && text !== "").join(" · ");
  return {
    atMs: wallMs,
    what,
    text: oneLine(texts[what]?.(entry) ?? what),
    isFailure: failures.has(what) || (what === "ran" && detail !== undefined),
    verb,
    ...(plugin === undefined ? {} : { plugin }),
    ...(network === undefined ? {} : { network }),
    ...(tookMs === undefined ? {} : { tookMs }),
    ...(said === "" ? {} : { detail: oneLine(said) }),
  };
}
