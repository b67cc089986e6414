import type { AttachmentView, TimelineAnswer } from "./node-view.ts";

/** A pod by everything that names it; `/podz/NAMESPACE/NAME/UID` asks for its story. */
export interface WholePodName {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** `/podz`: a pod's timeline, and what the journal has of it. For the console, which shows it from afar. */
export interface PodStoryAnswer {
  readonly timeline: TimelineAnswer;
  readonly attachments: readonly AttachmentView[];
}
