import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import type { SharedTexts } from "../../base/shared-texts.ts";
import { countOf, timeMs } from "../json-values.ts";
import type { EventFacts } from "../facts/world.ts";

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
