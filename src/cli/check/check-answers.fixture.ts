import { software } from "../../base/version.ts";
import type { ChecksAnswer, NodeAnswer } from "../../wire/node-view.ts";

/** A healthy daemon's answer, for tests to vary. */
export function aNode(changes: Partial<NodeAnswer> = {}): NodeAnswer {
  return {
    software,
    protocol: 2,
    stateDir: "/var/lib/levee",
    socket: "/run/levee/levee.sock",
    bootId: "b",
    startedWallMs: 0,
    attachments: 3,
    leaks: 0,
    quarantined: 0,
    waiting: 0,
    running: 0,
    residentHands: [],
    notices: [],
    ...changes,
  };
}

export function someChecks(changes: Partial<ChecksAnswer> = {}): ChecksAnswer {
  return {
    nodeName: "worker-1",
    isReady: true,
    checks: [
      { name: "journal", state: "ok", detail: "3 attachments", hint: "" },
      { name: "api", state: "ok", detail: "the API server answers", hint: "" },
      { name: "networks", state: "warning", detail: "told one by one below", hint: "" },
    ],
    networks: [],
    networksTotal: 0,
    shimSoftware: "",
    ...changes,
  };
}
