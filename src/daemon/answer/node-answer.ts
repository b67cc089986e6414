import type { Admission } from "../../admission/admission.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { Journal } from "../../state/journal/journal.ts";
import { protocolVersion } from "../../wire/frame.ts";
import type { NodeAnswer } from "../../wire/node-view.ts";
import type { Residents } from "../undo/residents.ts";

/** A folder of broken YAML files has one notice for each, and the first ones say enough. */
export const noticesMax = 100;

/** Facts about the daemon and its node that no single part knows. */
export interface ThisNode {
  readonly software: string;
  readonly nodeName: string;
  readonly socketPath: string;
  readonly startedWallMs: number;
  /** Sentences that a person should read. */
  readonly notices: () => readonly string[];
  /** The notices that explain why a pod or a network may not be found. */
  readonly sourceNotices: () => readonly string[];
}

export interface NodeAnswerNeeds {
  readonly thisNode: ThisNode;
  readonly config: Pick<DaemonConfig, "stateDir">;
  readonly bootId: string;
  readonly journal: Pick<Journal, "all" | "leaks" | "losses">;
  readonly admission: Pick<Admission, "facts">;
  readonly residents: Pick<Residents, "all">;
}

export function nodeAnswer({ thisNode, config, bootId, journal, admission, residents }: NodeAnswerNeeds): NodeAnswer {
  const line = admission.facts();
  return {
    software: thisNode.software,
    protocol: protocolVersion,
    stateDir: config.stateDir,
    socket: thisNode.socketPath,
    bootId,
    startedWallMs: thisNode.startedWallMs,
    attachments: journal.all().length,
    leaks: journal.leaks().length,
    quarantined: journal.losses().length,
    waiting: Object.values(line.waiting).reduce((sum, count) => sum + count, 0),
    running: line.attaching + line.detaching + line.hung,
    residentHands: residents.all().map(({ hand, sinceWallMs }) => ({
      software: hand.identity.software,
      pid: hand.identity.pid,
      sinceWallMs,
    })),
    notices: thisNode.notices().slice(0, noticesMax),
  };
}
