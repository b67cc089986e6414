import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import type { SharedTexts } from "../../base/shared-texts.ts";
import { countOf, timeMs } from "../json-values.ts";
import type { EventFacts } from "../facts/world.ts";
import type { Follow } from "./follow-dependencies.ts";

/** The texts of containerd and CRI-O. */
const reserved = /failed to reserve sandbox name|is reserved for|name is reserved/u;

/** Drops the message: it is tenants' text, and there may be thousands. */
export function projectEvent(value: unknown, texts: SharedTexts): EventFacts | undefined {
  const event = objectOf(value);
  const metadata = objectOf(event["metadata"]);
  const name = textOf(metadata["name"]);
  if (name === "") return undefined;
  const involved = objectOf(event["involvedObject"]);
  const series = objectOf(event["series"]);
  return {
    namespace: texts.share(textOf(metadata["namespace"])),
    name,
    reason: texts.share(textOf(event["reason"])),
    node: texts.share(textOf(objectOf(event["source"])["host"]) || textOf(event["reportingInstance"])),
    podUid: involved["kind"] === "Pod" ? textOf(involved["uid"]) : "",
    count: Math.max(1, countOf(event["count"]), countOf(series["count"])),
    lastMs: Math.max(
      timeMs(event["lastTimestamp"]),
      timeMs(series["lastObservedTime"]),
      timeMs(event["eventTime"]),
      timeMs(metadata["creationTimestamp"]),
    ),
    ...reservationOf(event),
  };
}

/** Kubelet says it once when a sandbox is replaced after a reboot; only a series of it tells of one that stays. */
const changesMin = 3;
/** `failed to destroy network for sandbox "ID"`; only an ID passes. */
const keptSandbox = /for sandbox \\?"([0-9a-f]{64})/u;

/** Events of a sandbox that kubelet cannot remove: of a pod to end, or of one that needs a new sandbox. Others are dropped. */
export function projectRemovalEvent(value: unknown, texts: SharedTexts): EventFacts | undefined {
  const found = projectEvent(value, texts);
  if (found === undefined) return undefined;
  const event = objectOf(value);
  const message = textOf(event["message"]);
  const isKept = found.reason === "FailedKillPod" ? message.includes("KillPodSandbox") : found.count >= changesMin;
  if (!isKept) return undefined;
  const { isNameReserved: _name, ...facts } = found;
  const firstMs = timeMs(event["firstTimestamp"]) || timeMs(event["eventTime"]);
  const sandbox = keptSandbox.exec(message)?.[1];
  return {
    ...facts,
    ...(firstMs === 0 ? {} : { firstMs }),
    ...(sandbox === undefined ? {} : { sandbox }),
  };
}

/** Follows these events, of all namespaces. Nothing waits for them. */
export function followRemovals(follow: Follow, texts: SharedTexts): () => readonly EventFacts[] {
  const all = ["FailedKillPod", "SandboxChanged"].map((reason) =>
    follow("events", "/api/v1/events", (value) => projectRemovalEvent(value, texts), {
      query: { fieldSelector: `reason=${reason}` },
      isCached: false,
    }),
  );
  return () => all.flatMap(({ store }) => [...store.values()]);
}

/** containerd names the sandbox at the end of its message; only an ID passes. */
const sandboxId = /is reserved for "?([0-9a-f]{64})"?/u;

function reservationOf(event: JsonObject): Pick<EventFacts, "isNameReserved" | "firstMs" | "sandbox"> {
  const message = textOf(event["message"]);
  if (!reserved.test(message)) return {};
  const firstMs = timeMs(event["firstTimestamp"]) || timeMs(event["eventTime"]);
  const sandbox = sandboxId.exec(message)?.[1];
  return {
    isNameReserved: true,
    ...(firstMs === 0 ? {} : { firstMs }),
    ...(sandbox === undefined ? {} : { sandbox }),
  };
}
