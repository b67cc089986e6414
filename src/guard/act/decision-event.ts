import type { Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { eventBody, eventMessage, eventName, type EventText } from "../../kube/outbox/event-body.ts";
import type { Leadership } from "../decide/next-status.ts";
import { decisionApiVersion, type Decision } from "../decision/decision.ts";

const requestMs = 10_000;

interface TellOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly term: Leadership;
}

/** Writes an Event for `kubectl describe` and does not wait for it. */
export function tellEvent({ api, clock, logger, term }: TellOptions, { metadata }: Decision, text: EventText): void {
  const { name, namespace, uid = "" } = metadata;
  const about = { apiVersion: decisionApiVersion, kind: "Decision", namespace, name, uid };
  const nowMs = clock.wallMs();
  const body = eventBody(
    { namespace, name: eventName(about, clock.randomBytes(8)) },
    about,
    { ...text, message: eventMessage(text.message) },
    {
      source: { component: "levee-guard", host: term.identity },
      counts: { count: 1, firstWallMs: nowMs, lastWallMs: nowMs },
    },
  );
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`;
  void api.call({ method: "POST", path, body, deadlineMs: requestMs }).catch((thrown: unknown) => {
    logger.warn("Cannot write an Event", { name, error: toLeveeError(thrown, "Cannot tell").message });
  });
}
