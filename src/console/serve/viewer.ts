import type { VerdictAnswer, VerdictRequestBody } from "../../wire/console-decision.ts";
import type { ConsoleViewer } from "../../wire/console-view.ts";
import type { ConsoleVerdict } from "./console-route.ts";

/** A word on a Decision, as the page sent it. */
export interface ViewerWord extends VerdictRequestBody {
  readonly decision: string;
  readonly verdict: ConsoleVerdict;
}

/** Somebody who looks. What he writes, he writes with his own credentials. */
export interface Viewer {
  readonly view: ConsoleViewer;
  say(word: ViewerWord): Promise<VerdictAnswer>;
}

/** The parts of a request that say who asks. */
export interface ViewerHead {
  readonly authorization: string | undefined;
  /** The value of the header that a proxy sets, where that is set up. */
  readonly proxyToken: string | undefined;
  /** The peer is on this machine. */
  readonly isLoopback: boolean;
}

export interface Viewers {
  /** Throws `Refused` for nobody, for an invalid token and for somebody without the right to look. */
  of(head: ViewerHead): Promise<Viewer>;
}
