import type { Clock } from "../../base/clock.ts";
import type { VerifyUrl } from "../facts/guard-settings.ts";
import { getStatus } from "./get-text.ts";
import { credentialsFrom } from "./server-credentials.ts";

/** A page that takes longer is not well. */
const answerMs = 5_000;

/**
 * Why a URL of the site does not answer as it should; undefined when it does. The guard asks from its node, by the site's
 * own DNS and through its own front door, as a person's browser would.
 */
export async function urlProblem(clock: Clock, asked: VerifyUrl, signal: AbortSignal): Promise<string | undefined> {
  const { origin, pathname, search } = new URL(asked.url);
  try {
    const credentials = await credentialsFrom(asked);
    const request = { server: origin, path: `${pathname}${search}`, accept: "*/*", deadlineMs: answerMs, credentials };
    const status = await getStatus(clock, request, signal);
    return status === asked.status ? undefined : `it answered with status ${status}, not ${asked.status}`;
  } catch (thrown) {
    signal.throwIfAborted();
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}
