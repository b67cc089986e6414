import type { AskNode, PodAt } from "../../console/store/cluster-desk.ts";
import type { ConsolePodStory } from "../../wire/console-story.ts";
import type { PodStoryAnswer } from "../../wire/pod-story.ts";
import type { Asking } from "../cluster/seen.ts";
import { toFailure } from "../failure.ts";
import { apiStory } from "./api-story.ts";
import { storyOf } from "./node-story.ts";

/**
 * A pod's story from afar: each plugin by the daemon of its node, which is asked as for everything else about it; without
 * the daemon, as far as the API server knows it.
 */
export async function clusterStory(asking: Asking, askNode: AskNode, pod: PodAt): Promise<ConsolePodStory | undefined> {
  const { namespace, name, node, uid, daemon } = pod;
  const known = await apiStory(asking, pod, whyCommand(`${namespace}/${name}`, daemon));
  if (known === undefined || daemon === "" || uid === "") return known;
  const told = await toldBy(() =>
    askNode(node, `/podz/${namespace}/${name}/${encodeURIComponent(uid)}`, asking.signal),
  );
  if ("why" in told) return { ...known, why: `${known.why}, and it does not tell: ${told.why}` };
  const { timeline, attachments } = told;
  // A daemon that was started after the pod has nothing of it.
  if (timeline.entries.length === 0 && attachments.length === 0) return known;
  const story = storyOf(timeline, attachments, "daemon");
  const isKnown = story.state !== "unknown";
  return {
    ...story,
    node: node.name,
    command: known.command,
    ...(isKnown ? {} : { state: known.state, sinceMs: known.sinceMs, reason: known.reason }),
    ...(story.networks.length > 0 ? {} : { networks: known.networks }),
  };
}

async function toldBy(ask: () => Promise<string>): Promise<PodStoryAnswer | { readonly why: string }> {
  try {
    const told = JSON.parse(await ask()) as Partial<PodStoryAnswer> | null; // looked at below
    if (!Array.isArray(told?.timeline?.entries) || !Array.isArray(told.attachments))
      return { why: "its answer is none of ours" };
    return { timeline: told.timeline, attachments: told.attachments };
  } catch (thrown) {
    return { why: toFailure(thrown).message };
  }
}

/** The daemon has each plugin of the pod; its pod is the way to it from afar. */
function whyCommand(pod: string, daemon: string): string {
  const [namespace = "", name = ""] = daemon.split("/");
  return daemon === "" ? `levee why ${pod}` : `kubectl -n ${namespace} exec ${name} -- levee why ${pod}`;
}
