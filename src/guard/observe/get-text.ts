import { deadline, type Clock } from "../../base/clock.ts";
import type { KubeCredentials } from "../../kube/access/access.ts";
import { Exchange } from "../../kube/client/exchange.ts";

interface TextLimits {
  /** From connecting to the last byte. */
  readonly deadlineMs: number;
  readonly bytesMax: number;
}

interface TextRequest extends TextLimits {
  /** Scheme, host and port, and a path when the server is behind one. */
  readonly server: string;
  /** From the slash on, with the query. */
  readonly path: string;
  readonly accept?: string;
  /** Who asks, and which certificate is believed; nobody, and one of the machine's authorities, unless told. */
  readonly credentials?: KubeCredentials;
}

/** An answer that is not 200. */
export class UnexpectedStatus extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`it answered with status ${status}`);
    this.status = status;
  }
}

/** Asks a server other than the API server, once, and hangs up. Throws an Error that says why there is no text. */
export async function getText(clock: Clock, request: TextRequest, signal: AbortSignal): Promise<string> {
  const { server, path, deadlineMs, bytesMax, accept = "text/plain", credentials = nobody } = request;
  const exchange = new Exchange(server);
  using limit = deadline(clock, deadlineMs, () => new Error(`it did not answer within ${deadlineMs} ms`), signal);
  try {
    const answer = await exchange.send({ method: "GET", path, accept }, credentials, limit.signal);
    if (answer.head.status !== 200) throw new UnexpectedStatus(answer.head.status);
    return await answer.text(bytesMax);
  } catch (thrown) {
    // What a cut connection says is only a consequence.
    if (limit.signal.aborted) throw limit.signal.reason;
    throw thrown;
  } finally {
    exchange.close();
  }
}

const nobody: KubeCredentials = { token: undefined, tls: {} };
