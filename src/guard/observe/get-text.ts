import { deadline, type Clock } from "../../base/clock.ts";
import type { KubeCredentials } from "../../kube/access/access.ts";
import { Exchange } from "../../kube/client/exchange.ts";
import type { HttpResponse } from "../../kube/client/http-response.ts";

interface TextLimits {
  /** From connecting to the last byte. */
  readonly deadlineMs: number;
  readonly bytesMax: number;
}

interface TextRequest extends TextLimits {
  /** Scheme, host, port, and a path prefix if the server has one. */
  readonly server: string;
  /** Begins with a slash; includes the query. */
  readonly path: string;
  readonly accept?: string;
  /** Default: no token, and the machine's certificate authorities. */
  readonly credentials?: KubeCredentials;
}

/** An answer with a status other than 200. */
export class UnexpectedStatus extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`it answered with status ${status}`);
    this.status = status;
  }
}

/** The way to the servers other than the API server. The simulator has one of its own. */
export type TextGetter = typeof getText;

/** Sends one GET to a server other than the API server. The error says why there is no text. */
export async function getText(clock: Clock, request: TextRequest, signal: AbortSignal): Promise<string> {
  return await get(clock, request, signal, async (answer) => {
    if (answer.head.status !== 200) throw new UnexpectedStatus(answer.head.status);
    return await answer.text(request.bytesMax);
  });
}

/** The status of the answer to one GET; its body is not read, and no redirect is followed. */
export async function getStatus(
  clock: Clock,
  request: Omit<TextRequest, "bytesMax">,
  signal: AbortSignal,
): Promise<number> {
  return await get(clock, request, signal, async ({ head }) => head.status);
}

async function get<T>(
  clock: Clock,
  { server, path, deadlineMs, accept = "text/plain", credentials = noCredentials }: Omit<TextRequest, "bytesMax">,
  signal: AbortSignal,
  read: (answer: HttpResponse) => Promise<T>,
): Promise<T> {
  const exchange = new Exchange(server);
  using limit = deadline(clock, deadlineMs, () => new Error(`it did not answer within ${deadlineMs} ms`), signal);
  try {
    const answer = await exchange.send({ method: "GET", path, accept }, credentials, limit.signal);
    return await read(answer);
  } catch (thrown) {
    // The error of a cut connection is only a consequence.
    if (limit.signal.aborted) throw limit.signal.reason;
    throw thrown;
  } finally {
    exchange.close();
  }
}

const noCredentials: KubeCredentials = { token: undefined, tls: {} };
