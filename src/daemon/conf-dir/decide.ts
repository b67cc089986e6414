import { arrayElements, appendElements, jsonValue, exactMember, setMember } from "../../cni/json-text.ts";
import type { JsonText } from "../../base/brand.ts";
import { sameJson } from "../../base/same-json.ts";
import type { ChainedConf, OwnConf } from "./look-at-folder.ts";

export type ConfAction =
  | { readonly act: "nothing" }
  /** `tampering` says what another program did to it; undefined when the change is our own. */
  | { readonly act: "write"; readonly fileName: string; readonly text: string; readonly tampering: string | undefined };

export interface Situation {
  readonly fileName: string;
  readonly own: OwnConf;
  readonly wanted: string | undefined;
  /** The text in force at the last look; undefined at the first look. */
  readonly before: string | undefined;
}

const nothing: ConfAction = { act: "nothing" };

/** Never rewrites an equal text: each write makes the runtime reload all its confs. */
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

/** Keeps the plugins of others, and updates our own element only when its content differs. */
function decideChained(own: ChainedConf, wanted: string, before: string | undefined): ConfAction {
  if (own.text === wanted || sameJson(contentOf(own.element), contentOf(wanted))) return nothing;
  const [, ...others] = arrayElements(exactMember(own.text, "plugins") ?? jsonValue([]));
  const ours = wanted.trim() as JsonText; // our own conf, or one that was checked
  const text = setMember(own.text, "plugins", appendElements(jsonValue([]), [ours, ...others]));
  return { act: "write", fileName: own.fileName, text, tampering: changedFrom(before, own.text) };
}

/** A text that differs from the one in force was changed by another program. */
function changedFrom(before: string | undefined, now: string | undefined): string | undefined {
  return before === undefined || now === before ? undefined : "was changed";
}

/** A program that makes a list of a conf moves these two members to the list. */
function contentOf(text: string): unknown {
  const { name: _name, cniVersion: _cniVersion, ...content } = JSON.parse(text) as Record<string, unknown>; // an object, by its type
  return content;
}
