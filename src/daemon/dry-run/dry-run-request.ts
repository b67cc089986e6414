import type { Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { TokenBucket } from "../../kube/outbox/token-bucket.ts";
import type { DryRunAnswer, DryRunRequest } from "../../wire/dry-run.ts";
import type { DryRunDesk } from "./dry-run-desk.ts";

interface RequestNeeds {
  readonly clock: Clock;
  readonly nodeName: string;
  readonly desk: Pick<DryRunDesk, "answer" | "begin">;
  /** Reads a request from the cluster. Undefined when there is none. Rejects with a `KubeError`. */
  readonly read: (namespace: string, name: string) => Promise<DryRunRequest | undefined>;
}

/** An older one was left by a command that was killed. */
const ageMsMax = 600_000;
/** Anything that reaches the port may ask. It costs the API server no more than this. */
const asks = { burst: 5, refillMs: 1_000 };

/**
 * Dry runs by HTTP. The port knows nobody, so an object in the cluster stands for the right to it: it is made by someone
 * who may create such objects in the namespace of the network, and counts once on each node.
 */
export class DryRunRequests {
  readonly #needs: RequestNeeds;
  readonly #bucket: TokenBucket;

  constructor(needs: RequestNeeds) {
    this.#needs = needs;
    this.#bucket = new TokenBucket(needs.clock, asks);
  }

  /** Begins the dry run of a request the first time it is asked for. Undefined for an unknown request; throws `try-later`. */
  async answer(namespace: string, name: string): Promise<DryRunAnswer | undefined> {
    const { desk, read, nodeName, clock } = this.#needs;
    const key = `${namespace}/${name}`;
    const known = desk.answer(key);
    if (known !== undefined) return known;
    if (!this.#bucket.take())
      throw new LeveeError("try-later", "Cannot look for a dry run now: too many are asked for");
    const request = await read(namespace, name);
    const isMeant = request?.nodes.length === 0 || request?.nodes.includes(nodeName) === true;
    if (request === undefined || !isMeant || Math.abs(clock.wallMs() - request.createdWallMs) > ageMsMax)
      return undefined;
    return desk.answer(key) ?? desk.begin({ namespace, name: request.network }, key);
  }
}
