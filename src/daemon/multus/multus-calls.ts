import type { Clock } from "../../base/clock.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import type { JsonText } from "../../base/brand.ts";
import type { Logger } from "../../base/log.ts";
import { newestVersion } from "../../cni/cni-version.ts";
import { printCniError } from "../../cni/cni-error.ts";
import { parseResult, printResult } from "../../cni/result.ts";
import { parseRequest, type CniRequest } from "../../cni/verb.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { Frame } from "../../wire/frame.ts";
import type { CallChannel } from "../socket/server-connection.ts";
import type { OfflineFolder } from "../undo/offline-folder.ts";
import type { Residents } from "../undo/residents.ts";
import { callFrames, type CallFrames } from "./call-frames.ts";
import type { MultusRequest } from "./multus-request.ts";
import { frameOf, StandIn, type StandInEnd } from "./stand-in.ts";

export interface MultusCallsNeeds {
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "addBudgetMs" | "delBudgetMs">;
  readonly logger: Logger;
  readonly residents: Pick<Residents, "hand">;
  readonly offline: Pick<OfflineFolder, "keepDelete">;
  /** Serves a call as that of a shim. */
  readonly call: (channel: CallChannel, first: Frame) => void;
}

/** An answer of `multus.sock`. */
export interface MultusAnswer {
  readonly status: 200 | 400;
  readonly body: string;
}

/** Serves `/cni`, the calls of `multus-shim`, as calls like any others. */
export class MultusCalls {
  readonly #needs: MultusCallsNeeds;
  readonly #standIns = new Set<StandIn>();

  constructor(needs: MultusCallsNeeds) {
    this.#needs = needs;
  }

  async serve(request: MultusRequest, peerGone: AbortSignal): Promise<MultusAnswer> {
    const parsed = parseRequest(request.call);
    const resident = this.#needs.residents.hand();
    const frames = await callFrames(request, resident, this.#needs.config);
    const end: StandInEnd =
      resident === undefined
        ? { exitCode: undefined, error: noHand() }
        : await this.#serveBy(new StandIn({ ...this.#needs, ...frames, resident, config: frameOf(frames.config) }), {
            frames,
            peerGone,
          });
    if (parsed.verb === "DEL" && end.exitCode !== 0) return await this.#keep(parsed, frames, end);
    if (end.exitCode === undefined) return multusRefusal(end.error);
    return end.exitCode === 0
      ? { status: 200, body: parsed.verb === "ADD" ? resultBody(end.output as JsonText, newestVersion) : "" } // FINISH's own
      : { status: 400, body: end.output };
  }

  /** Calls whose plugins must end now: the daemon stops. */
  closeAll(): void {
    for (const standIn of this.#standIns) standIn.close();
  }

  async #serveBy(
    standIn: StandIn,
    { frames, peerGone }: { readonly frames: CallFrames; readonly peerGone: AbortSignal },
  ): Promise<StandInEnd> {
    const leave = (): void => standIn.close();
    this.#standIns.add(standIn);
    peerGone.addEventListener("abort", leave, { once: true });
    try {
      this.#needs.call(standIn, frameOf(frames.call));
      if (peerGone.aborted) leave();
      return await standIn.end;
    } finally {
      peerGone.removeEventListener("abort", leave);
      this.#standIns.delete(standIn);
    }
  }

  /**
   * `multus-shim` tells the runtime that every DEL succeeded, so nobody asks again for one that failed. It is kept as our
   * own shim would keep it, and recovery carries it out.
   */
  async #keep(
    request: Extract<CniRequest, { verb: "DEL" }>,
    frames: CallFrames,
    end: StandInEnd,
  ): Promise<MultusAnswer> {
    const { logger, offline } = this.#needs;
    const { containerId, ifname } = request;
    try {
      await offline.keepDelete(containerId, ifname, [frames.call, frames.config]);
    } catch (thrown) {
      const { message } = toLeveeError(thrown, "Cannot keep the delete");
      logger.error("A DEL by multus.sock failed and could not be kept for later", { containerId, ifname, message });
      return multusRefusal(new LeveeError("state-unwritable", message));
    }
    if (end.exitCode === undefined) return { status: 200, body: "" };
    return { status: 400, body: "output" in end ? end.output : "" };
  }
}

/** A result as Multus answers it. */
export function resultBody(result: JsonText, version: string): string {
  return `{"Result":${printResult(parseResult(result, version), newestVersion)}}`;
}

export function multusRefusal(error: LeveeError): MultusAnswer {
  return { status: 400, body: printCniError(newestVersion, error) };
}

function noHand(): LeveeError {
  return new LeveeError(
    "try-later",
    "Cannot serve a call by multus.sock: the resident hand, which runs its plugins, is not connected",
  );
}
