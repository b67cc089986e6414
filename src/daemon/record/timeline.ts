import type { Subject } from "../../base/subject.ts";
import type { TimelineEntry } from "../../wire/node-view.ts";

/** The fields of an entry besides its subject and time. */
export type TimelineFacts = Omit<Partial<TimelineEntry>, "wallMs" | "what" | "containerId" | "verb">;

/** Notes what happens to each pod, for `levee why`. */
export interface Timeline {
  note(subject: Subject, what: string, facts?: TimelineFacts): void;
}
