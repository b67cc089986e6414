import type { Namespace, PodName } from "../../base/brand.ts";
import type { PodStoryAnswer, WholePodName } from "../../wire/pod-story.ts";
import { attachmentView, timelineAnswer, type AttachmentsNeeds, type TimelineNeeds } from "./answers.ts";

interface PodStoryNeeds {
  readonly attachments: AttachmentsNeeds;
  readonly timeline: TimelineNeeds;
}

/** Each reads the flight recorder's files, beside the calls of pods. */
const readersMax = 2;

/** Stories of pods for the console, which is far away and asks over the metrics port. */
export class PodStories {
  readonly #needs: PodStoryNeeds;
  #readers = 0;

  constructor(needs: PodStoryNeeds) {
    this.#needs = needs;
  }

  /**
   * The story of a pod for somebody who knows its UID; undefined for anybody else. The port asks nobody who he is, and a
   * plugin's words may be a tenant's secret. Nobody guesses a UID: he has it from the API server, which let him read the pod.
   */
  async of(pod: WholePodName): Promise<PodStoryAnswer | "busy" | undefined> {
    if (this.#readers >= readersMax) return "busy";
    this.#readers += 1;
    try {
      return await this.#read(pod);
    } finally {
      this.#readers -= 1;
    }
  }

  async #read(pod: WholePodName): Promise<PodStoryAnswer | undefined> {
    const { attachments: needs, timeline } = this.#needs;
    const attachments = needs.journal
      .all()
      .filter((record) => record.pod.namespace === pod.namespace && record.pod.name === pod.name)
      .map((record) => attachmentView(record, needs.recovery));
    if (!attachments.some(({ uid }) => uid === pod.uid) && !(await isInView(pod, timeline))) return undefined;
    return { timeline: await timelineAnswer(pod, timeline), attachments };
  }
}

/** The names are unchecked, but a made-up one is simply not found. */
async function isInView({ namespace, name, uid }: WholePodName, { view }: TimelineNeeds): Promise<boolean> {
  return (await view.findPod(namespace as Namespace, name as PodName))?.uid === uid;
}
