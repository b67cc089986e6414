import { networkStatusAnnotation } from "../../base/annotations.ts";
import { oneLine } from "../../base/plain-text.ts";
import { SharedTexts } from "../../base/shared-texts.ts";
import { projectConsolePod } from "../../console/facts/console-pod.ts";
import { countOf, objectsOf, timeMs } from "../../guard/json-values.ts";
import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import type { ConsolePodStory, StoryEntry, StoryNetwork } from "../../wire/console-story.ts";
import { seeList, seeObject, valueOr, type Asking } from "../cluster/seen.ts";

/**
 * A pod's story as far as the API server knows it: created, bound, failures of its sandbox, network, started. Each plugin
 * is known to the node's daemon alone, which `command` asks.
 */
export async function apiStory(
  asking: Asking,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  command: string,
): Promise<ConsolePodStory | undefined> {
  const home = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
  const seen = await seeObject(asking, `${home}/pods/${encodeURIComponent(name)}`);
  if ("why" in seen) throw new Error(seen.why);
  const pod = projectConsolePod(seen.value, new SharedTexts());
  if (pod === undefined) return undefined;
  const selector = encodeURIComponent(`involvedObject.uid=${pod.uid}`);
  const events = valueOr(await seeList(asking, `${home}/events?fieldSelector=${selector}`, eventEntry), []);
  const entries = [...lifeEntries(objectOf(seen.value)), ...events].toSorted((left, right) => left.atMs - right.atMs);
  const failure = events.findLast(({ isFailure }) => isFailure);
  const isAttached = pod.state === "attached";
  return {
    namespace,
    pod: name,
    node: pod.node,
    state: pod.state,
    sinceMs: isAttached ? pod.attachedMs : pod.boundMs,
    reason: isAttached || pod.state === "ended" ? "" : (failure?.detail ?? ""),
    source: "api",
    why: "the API server knows no plugins; the daemon of the pod's node does",
    entries,
    omitted: 0,
    networks: networksOf(objectOf(seen.value)),
    notices: [],
    command,
  };
}

/** Conditions that say when something became so. */
const conditions: Readonly<Record<string, string>> = {
  PodScheduled: "A node was chosen",
  PodReadyToStartContainers: "The sandbox has its network",
  Initialized: "The init containers are done",
  ContainersReady: "The containers are ready",
  Ready: "The pod is ready",
};

function lifeEntries({ metadata, status }: JsonObject): readonly StoryEntry[] {
  const entry = (atMs: number, what: string, text: string): StoryEntry => ({
    atMs,
    what,
    text,
    isFailure: false,
    verb: "",
  });
  const made = timeMs(objectOf(metadata)["creationTimestamp"]);
  const became = objectsOf(objectOf(status)["conditions"]).flatMap((condition): readonly StoryEntry[] => {
    const type = textOf(condition["type"]);
    const text = conditions[type];
    return text === undefined || condition["status"] !== "True"
      ? []
      : [entry(timeMs(condition["lastTransitionTime"]), type, text)];
  });
  return [entry(made, "created", "The pod was created"), ...became].filter(({ atMs }) => atMs > 0);
}

function eventEntry(item: unknown): StoryEntry | undefined {
  const event = objectOf(item);
  const reason = textOf(event["reason"]);
  if (reason === "") return undefined;
  const count = Math.max(1, countOf(event["count"]), countOf(objectOf(event["series"])["count"]));
  const atMs =
    timeMs(event["lastTimestamp"]) ||
    timeMs(event["eventTime"]) ||
    timeMs(objectOf(event["metadata"])["creationTimestamp"]);
  return {
    atMs,
    what: oneLine(reason),
    text: `${oneLine(reason)}${count === 1 ? "" : `, ${count} times`}`,
    isFailure: event["type"] === "Warning",
    verb: "",
    detail: oneLine(textOf(event["message"])),
  };
}

/** From the pod's network-status; a text that is none names no networks. */
function networksOf({ metadata }: JsonObject): readonly StoryNetwork[] {
  const text = textOf(objectOf(objectOf(metadata)["annotations"])[networkStatusAnnotation]);
  return objectsOf(parsed(text)).map(({ name, interface: ifname, ips, mac }) => ({
    network: oneLine(textOf(name)),
    ifname: oneLine(textOf(ifname)),
    ips: Array.isArray(ips) ? ips.map((ip) => oneLine(textOf(ip))) : [],
    mac: oneLine(textOf(mac)),
  }));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
