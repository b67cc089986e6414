import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import type { VerdictAnswer } from "../../wire/console-decision.ts";
import type { ConsoleViewer } from "../../wire/console-view.ts";
import { Refused } from "../serve/refusal.ts";
import type { Viewer, ViewerHead, Viewers, ViewerWord } from "../serve/viewer.ts";
import { reviewAccess, reviewToken, type WantedAccess } from "./review-token.ts";

interface ReviewedOptions {
  readonly clock: Clock;
  /** With the console's own rights, which are to ask such questions and to read. */
  readonly api: KubeApi;
  readonly signal: AbortSignal;
  readonly namespace: string;
  readonly place: string;
  /** Whether a proxy on this machine passes the token in a header of its own. Then no other way counts. */
  readonly isBehindProxy: boolean;
  /** Writes with the viewer's own token: the page cannot do what he could not do with kubectl. */
  readonly say: (token: string, word: ViewerWord) => Promise<VerdictAnswer>;
}

/** A right that was taken away is gone after this time. */
const keptMs = 10_000;
/** Viewers at once; each takes some hundred bytes. */
const viewersMax = 1_000;

/** A token of the API server's has some kilobytes at most. */
const bearer = /^Bearer ([\x21-\x7e]{1,16384})$/u;
const bareToken = /^(?:Bearer )?([\x21-\x7e]{1,16384})$/u;

interface Kept {
  readonly untilMs: number;
  readonly view: Promise<ConsoleViewer>;
}

/** The viewers of a console in a cluster: each is asked for, and asked about, by his own token. */
export class ReviewedViewers implements Viewers {
  readonly #options: ReviewedOptions;
  /** By a hash of the token, so that no token stays in memory. */
  readonly #kept = new Map<string, Kept>();

  constructor(options: ReviewedOptions) {
    this.#options = options;
  }

  async of(head: ViewerHead): Promise<Viewer> {
    const token = this.#tokenOf(head);
    const view = await this.#viewOf(token);
    return { view, say: (word) => this.#options.say(token, word) };
  }

  #tokenOf({ authorization, proxyToken, isLoopback }: ViewerHead): string {
    if (!this.#options.isBehindProxy) {
      const [, token] = bearer.exec(authorization ?? "") ?? [];
      if (token === undefined) throw new Refused("sign-in-needed");
      return token;
    }
    // Whoever reaches the port from elsewhere could write any header.
    if (!isLoopback) throw new Refused("sign-in-needed", "Only the proxy beside the console may pass tokens on");
    const [, token] = bareToken.exec(proxyToken ?? "") ?? [];
    if (token === undefined) throw new Refused("sign-in-needed", "The proxy passed no token on");
    return token;
  }

  #viewOf(token: string): Promise<ConsoleViewer> {
    const { clock } = this.#options;
    const key = createHash("sha256").update(token).digest("base64");
    const nowMs = clock.monotonicMs();
    const kept = this.#kept.get(key);
    if (kept !== undefined && kept.untilMs > nowMs) return kept.view;
    this.#forget(nowMs);
    // A refusal is kept as well: a page that asks again and again costs the API server one review in ten seconds.
    const view = this.#review(token);
    view.catch(() => undefined);
    this.#kept.set(key, { untilMs: nowMs + keptMs, view });
    return view;
  }

  #forget(nowMs: number): void {
    for (const [key, { untilMs }] of this.#kept) if (untilMs <= nowMs) this.#kept.delete(key);
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size >= viewersMax) this.#kept.delete(oldest);
  }

  async #review(token: string): Promise<ConsoleViewer> {
    const { api, namespace, place, signal } = this.#options;
    try {
      const user = await reviewToken(api, token, signal);
      if (user === undefined) throw new Refused("sign-in-needed");
      const may = (wanted: WantedAccess): Promise<boolean> => reviewAccess(api, user, wanted, signal);
      const seen = await Promise.all(shown(namespace).map(may));
      if (seen.includes(false)) throw new Refused("not-allowed");
      const mayDecide = await may({ group: "levee.dev", resource: "decisionapprovals", verb: "create", namespace });
      const line = `kubectl create clusterrolebinding NAME --clusterrole=levee-approver --user=${user.username}`;
      return {
        name: user.username,
        mode: "in-cluster",
        ...{ place, namespace },
        mayDecide: mayDecide ? "yes" : "no",
        why: mayDecide ? "" : `the right comes with: ${line}`,
      };
    } catch (thrown) {
      throw thrown instanceof Refused ? thrown : new Refused("review-failed");
    }
  }
}

/** What the page shows to everybody who may look: he must be able to list the same with kubectl. */
function shown(namespace: string): readonly WantedAccess[] {
  return [
    { group: "", resource: "nodes", verb: "list", namespace: "" },
    { group: "", resource: "pods", verb: "list", namespace: "" },
    { group: "levee.dev", resource: "decisions", verb: "list", namespace },
  ];
}
