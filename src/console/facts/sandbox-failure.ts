import { oneLine } from "../../base/plain-text.ts";
import { firstChars } from "../../base/short-text.ts";
import type { SharedTexts } from "../../base/shared-texts.ts";
import { projectEvent } from "../../guard/observe/project-event.ts";
import { objectOf, textOf } from "../../kube/client/json-fields.ts";

/** Kubelet's Event about a pod whose sandbox it could not make. */
export interface SandboxFailure {
  readonly namespace: string;
  /** The Event's own name. */
  readonly name: string;
  readonly pod: string;
  readonly node: string;
  readonly lastMs: number;
  readonly why: string;
}

const whyCharsMax = 300;

export function projectSandboxFailure(value: unknown, texts: SharedTexts): SandboxFailure | undefined {
  const event = projectEvent(value, texts);
  const involved = objectOf(objectOf(value)["involvedObject"]);
  if (event === undefined || involved["kind"] !== "Pod") return undefined;
  const { namespace, name, node, lastMs } = event;
  const why = firstChars(oneLine(textOf(objectOf(value)["message"])), whyCharsMax);
  return { namespace, name, node, lastMs, pod: textOf(involved["name"]), why: texts.share(why) };
}
