import type { ServerResponse } from "node:http";
import type { Clock } from "../../base/clock.ts";
import type { ConsoleProblem, ConsoleSnapshot, ConsoleViewer } from "../../wire/console-view.ts";
import type { ConsoleFeed } from "./console-feed.ts";
import { EventStream } from "./event-stream.ts";
import { Refused } from "./refusal.ts";
import type { Viewer, ViewerHead, Viewers } from "./viewer.ts";

interface TabOptions {
  readonly clock: Clock;
  readonly feed: ConsoleFeed;
  readonly viewers: Viewers;
}

/** A wall of screens, and a team. Each takes a socket and shares everything else. */
const tabsMax = 64;
/** A right that was taken away, or a token that expired, ends a stream within this time. */
const reviewMs = 10_000;

/** The streams of all tabs. */
export class TabStreams {
  readonly #options: TabOptions;
  readonly #streams = new Set<EventStream>();

  constructor(options: TabOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#streams.size;
  }

  /** Follows the feed for this tab until either side hangs up. */
  open(response: ServerResponse, viewer: Viewer, head: ViewerHead): void {
    if (this.#streams.size >= tabsMax) throw new Refused("too-many");
    const { clock, feed } = this.#options;
    const following = feed.follow((_change, text) => stream.send("change", feed.revision, text));
    const stream = new EventStream(response, clock, () => {
      following.stop();
      stopReview();
      this.#streams.delete(stream);
    });
    this.#streams.add(stream);
    const snapshot: ConsoleSnapshot = { ...following.parts, revision: following.revision, viewer: viewer.view };
    stream.send("snapshot", following.revision, JSON.stringify(snapshot));
    let told = JSON.stringify(viewer.view);
    const stopReview = clock.every(reviewMs, () => {
      void this.#review(stream, head).then((view) => {
        const text = JSON.stringify(view);
        if (view === undefined || text === told) return;
        told = text;
        const { revision } = feed;
        stream.send("change", revision, JSON.stringify({ revision, asOfMs: clock.wallMs(), viewer: view }));
      });
    });
  }

  close(problem: ConsoleProblem): void {
    for (const stream of [...this.#streams]) this.#end(stream, problem);
  }

  /** Whether the viewer may still look. Undefined when he may not, and his stream has ended. */
  async #review(stream: EventStream, head: ViewerHead): Promise<ConsoleViewer | undefined> {
    try {
      return (await this.#options.viewers.of(head)).view;
    } catch (thrown) {
      // An API server that is away takes no right away: the facts grow old, and the page says so.
      if (thrown instanceof Refused && thrown.code !== "review-failed") this.#end(stream, thrown.problem);
      return undefined;
    }
  }

  #end(stream: EventStream, problem: ConsoleProblem): void {
    if (stream.isOver) return;
    stream.send("end", this.#options.feed.revision, JSON.stringify(problem));
    stream.end();
  }
}
