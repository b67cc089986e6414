import { parseRebootException, type RebootException } from "../../guard/gate/reboot-exception.ts";
import { timeText } from "../../guard/json-values.ts";
import { kubeStatusOf } from "../../kube/client/api.ts";
import { whoAmI } from "../decisions/decision-source.ts";
import { CommandFailure } from "../failure.ts";
import type { GatePlace } from "./gate-place.ts";
import { postWord } from "./post-word.ts";
import { exceptionsPath, gateRequestMs } from "./read-gates.ts";

interface ExceptionWords {
  readonly match: Readonly<Record<string, string>>;
  readonly reason: string;
  readonly untilMs: number;
}

/** Alerts with these labels keep no node from its reboot until then, in this person's name. */
export async function createException(place: GatePlace, words: ExceptionWords): Promise<RebootException> {
  const by = await whoAmI(place);
  const text = await postWord(place, {
    kind: "RebootException",
    namePrefix: `${nameOf(words.match)}-`,
    spec: { match: words.match, reason: words.reason, until: timeText(words.untilMs), by: { username: by } },
  });
  const made = parseRebootException(JSON.parse(text));
  if (made === undefined) throw new Error("The API server created the exception but did not return it");
  return made;
}

/** Takes the name with or without its kind, as `-o name` prints it. */
export async function removeException(place: GatePlace, given: string): Promise<string> {
  const name = given.replace(/^rebootexceptions?(?:\.levee\.dev)?\//u, "");
  const path = `${exceptionsPath(place)}/${encodeURIComponent(name)}`;
  try {
    await place.api.call({ method: "DELETE", path, deadlineMs: gateRequestMs, signal: place.signal });
    return name;
  } catch (thrown) {
    if (kubeStatusOf(thrown) !== 404) throw thrown;
    throw new CommandFailure("exception-unknown", `Cannot find the exception ${name} in ${place.namespace}`, {
      remedy: "levee gate except list",
    });
  }
}

/** The alert's name in small letters, as far as an object's name can have it. */
function nameOf(match: Readonly<Record<string, string>>): string {
  const words = (match["alertname"] ?? "labels").toLowerCase().replaceAll(/[^a-z0-9]+/gu, "-");
  return words.slice(0, 50).replaceAll(/^-+|-+$/gu, "") || "labels";
}
