import type { Clock } from "../../base/clock.ts";
import type { Viewer, Viewers } from "../../console/serve/viewer.ts";
import { objectOf, textOf } from "../../kube/client/json-fields.ts";
import type { ConsoleViewer } from "../../wire/console-view.ts";
import { whoAmI, type DecisionSource } from "../decisions/decision-source.ts";
import { toFailure } from "../failure.ts";
import { sayVerdict } from "./say-verdict.ts";

interface ClusterViewerOptions extends DecisionSource {
  readonly clock: Clock;
  readonly place: string;
}

/** Rights change rarely, and the API server decides again at each write. */
const freshMs = 60_000;
const requestMs = 10_000;

/** The one viewer of `levee console`: the user of the kubeconfig. The token in the address is his. */
export class KubeconfigViewers implements Viewers {
  readonly #options: ClusterViewerOptions;
  #view: ConsoleViewer;
  #seenMs = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;

  constructor(options: ClusterViewerOptions) {
    this.#options = options;
    const { place, namespace } = options;
    this.#view = { name: "", mode: "kubeconfig", place, namespace, mayDecide: "unknown", why: "" };
  }

  async of(): Promise<Viewer> {
    const { clock } = this.#options;
    if (clock.monotonicMs() - this.#seenMs > freshMs) {
      this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
      await this.#looking;
    }
    return { view: this.#view, say: (word) => sayVerdict(this.#options, word) };
  }

  /** A server that does not answer leaves what was known. */
  async #look(): Promise<void> {
    try {
      const name = await whoAmI(this.#options);
      const { isAllowed, why } = await mayDecide(this.#options);
      this.#view = { ...this.#view, name, mayDecide: isAllowed ? "yes" : "no", why };
      this.#seenMs = this.#options.clock.monotonicMs();
    } catch (thrown) {
      this.#view = { ...this.#view, mayDecide: "unknown", why: toFailure(thrown).message };
      // Asked again with the next request, but not with each of a burst.
      this.#seenMs = this.#options.clock.monotonicMs() - freshMs + requestMs;
    }
  }
}

async function mayDecide({ api, namespace, signal }: DecisionSource): Promise<{ isAllowed: boolean; why: string }> {
  const attributes = { group: "levee.dev", resource: "decisionapprovals", verb: "create", namespace };
  const text = await api.call({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    body: JSON.stringify({
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: attributes },
    }),
    deadlineMs: requestMs,
    signal,
  });
  const status = objectOf(objectOf(JSON.parse(text) as unknown)["status"]); // looked at field by field
  const isAllowed = status["allowed"] === true;
  const line = "kubectl create clusterrolebinding NAME --clusterrole=levee-approver --user=USER";
  const reason = textOf(status["reason"]);
  return { isAllowed, why: isAllowed ? "" : `${reason === "" ? "" : `${reason}; `}the right comes with: ${line}` };
}
