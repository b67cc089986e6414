import { objectOf, textOf } from "../../kube/client/json-fields.ts";
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
    ...(reserved.test(textOf(event["message"])) ? { isNameReserved: true } : {}),
  };
}
