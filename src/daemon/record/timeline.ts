import type { Subject } from "../../base/subject.ts";
import type { TimelineEntry } from "../../wire/node-view.ts";

/** What is known of an entry besides whom it is about. */
export type TimelineFacts = Omit<Partial<TimelineEntry>, "wallMs" | "what" | "containerId" | "verb">;

/** Takes down what happens to each pod, so that `levee why` can tell. */
export interface Timeline {
  note(subject: Subject, what: string, facts?: TimelineFacts): void;
}
