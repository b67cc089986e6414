import { arrayElements, appendElements, jsonValue, memberText, setMember } from "../../cni/json-text.ts";
import type { JsonText } from "../../base/brand.ts";
import { sameJson } from "../../base/same-json.ts";
import type { ChainedConf, OwnConf } from "./look-at-folder.ts";

/** What there is to do about the conf, given what is there and what should be. */
export type ConfAction =
  | { readonly act: "nothing" }
  /** `tampering` says what somebody else did to it; undefined when the change is our own. */
  | { readonly act: "write"; readonly fileName: string; readonly text: string; readonly tampering: string | undefined };

export interface Situation {
  readonly fileName: string;
  readonly own: OwnConf;
  readonly wanted: string | undefined;
  /** What was in force the last time we looked; undefined at the first look. */
  readonly before: string | undefined;
}

const nothing: ConfAction = { act: "nothing" };

/** Never writes what is there already: each write makes the runtime load all its confs again. */
export function decide({ fileName, own, wanted, before }: Situation): ConfAction {
  if (wanted === undefined) return nothing;
  const write = (tampering: string | undefined): ConfAction => ({ act: "write", fileName, text: wanted, tampering });
  switch (own.kind) {
    case "absent":
      if (own.renamedTo !== undefined) return write(`was renamed to ${own.renamedTo}`);
      return write(before === undefined ? undefined : "was removed");
    case "plain":
      if (own.text === wanted) return nothing;
      return write(changedFrom(before, own.text));
    case "chained":
      return decideChained(own, wanted, before);
  }
}

/** The others' plugins stay; only our own element is brought up to date, and only when it says something else. */
function decideChained(own: ChainedConf, wanted: string, before: string | undefined): ConfAction {
  if (own.text === wanted || sameJson(contentOf(own.element), contentOf(wanted))) return nothing;
  const [, ...others] = arrayElements(memberText(own.text, "plugins") ?? jsonValue([]));
  const ours = wanted.trim() as JsonText; // our own conf, or one that was checked
  const text = setMember(own.text, "plugins", appendElements(jsonValue([]), [ours, ...others]));
  return { act: "write", fileName: own.fileName, text, tampering: changedFrom(before, own.text) };
}

/** What is there differs from what was in force, so it was not our own wish that changed. */
function changedFrom(before: string | undefined, now: string | undefined): string | undefined {
  return before === undefined || now === before ? undefined : "was changed";
}

/** Who makes a list of a conf moves these to the list. */
function contentOf(text: string): unknown {
  const { name: _name, cniVersion: _cniVersion, ...content } = JSON.parse(text) as Record<string, unknown>; // an object, by its type
  return content;
}
