import type { AskedItem, AskedThing } from "../../decision/asked-item.ts";
import { askedMax, kubectlLinesMax, textCharsMax } from "../../decision/limits.ts";
import { foreignText } from "../../detect/foreign-text.ts";
import type { StepDraft } from "../step-draft.ts";

/** The CRD's limits. */
const objectCharsMax = 512;
const lineCharsMax = 1_024;

interface AskedQuestion {
  readonly about: AskedThing;
  readonly title: string;
  readonly items: readonly AskedItem[];
  /** Lines to look with; at least one. */
  readonly kubectl: readonly string[];
  /** When it counts as done, in words. */
  readonly done: string;
  readonly deadlineSeconds: number;
}

/** Asks a person, and waits. The guard has no right to do this itself. */
export function askStep({ about, title, items, kubectl, done, deadlineSeconds }: AskedQuestion): StepDraft {
  const shown = items.slice(0, askedMax).map((item) => ({
    ...item,
    object: askedObject(item.object),
    what: foreignText(item.what, objectCharsMax),
    line: foreignText(item.line, lineCharsMax),
  }));
  return ({ id }) => ({
    id,
    action: "AskPerson",
    title: foreignText(title, textCharsMax),
    kubectl: kubectl.slice(0, kubectlLinesMax),
    preconditions: [],
    check: { what: done, deadlineSeconds },
    askPerson: { about, items: shown, omitted: items.length - shown.length },
  });
}

/** An object's name as the plan holds it. */
export function askedObject(name: string): string {
  return foreignText(name, objectCharsMax);
}
