import type { Subject } from "../../base/subject.ts";
import type { TimelineEntry } from "../../wire/node-view.ts";
import type { Timeline, TimelineFacts } from "./timeline.ts";

/** Keeps every entry for a test to look at. */
export class KeptTimeline implements Timeline {
  readonly notes: { readonly subject: Subject; readonly entry: TimelineEntry }[] = [];

  note(subject: Subject, what: string, facts: TimelineFacts = {}): void {
    const { containerId, verb } = subject;
    this.notes.push({ subject, entry: { ...facts, wallMs: 0, containerId, verb, what } });
  }

  of(namespace: string, name: string): readonly TimelineEntry[] {
    return this.notes
      .filter(({ subject }) => subject.namespace === namespace && subject.name === name)
      .map(({ entry }) => entry);
  }
}
