/**
 * The catalogue of all errors. Each code has a CNI number and a row in docs/errors.md; `npm run check` fails when the page
 * and this table differ. CNI reserves 1-99 (1-7, 11, 50, 51 are defined); the numbers of Levee start at 100.
 */
export const errorCatalogue = {
  // Of the caller
  "version-unsupported": { cni: 1, meaning: "Levee, or the verb, does not support the configuration's cniVersion" },
  "field-unsupported": { cni: 2, meaning: "The pod asks for something that no plugin of the network can do" },
  "container-unknown": { cni: 3, meaning: "The container is not known, so it cannot be checked" },
  "env-invalid": { cni: 4, meaning: "A CNI_ variable is missing or has a value that cannot be used" },
  "io-failed": { cni: 5, meaning: "Reading or writing failed" },
  "decode-failed": { cni: 6, meaning: "A text is not the JSON, YAML or frame that it should be" },
  "config-invalid": { cni: 7, meaning: "A network configuration is well-formed but cannot be used" },
  // Not now
  "try-later": { cni: 11, meaning: "The node cannot serve this now; the runtime retries" },
  "delete-later": {
    cni: 11,
    meaning: "A DEL that needs its network namespace cannot be served now; the runtime retries",
  },
  "network-not-ready": {
    cni: 11,
    meaning:
      "The host lacks the bridge, uplink or VLAN of a network; the pod waits and starts by itself when it is there",
  },
  "cancelled": { cni: 11, meaning: "A DEL ended this ADD, or the runtime gave it up; it was undone" },
  // STATUS
  "not-ready": { cni: 50, meaning: "No primary network is configured, or its plugin says it is not available" },
  // Of Levee
  "pod-unknown": { cni: 100, meaning: "The daemon's view does not have the pod" },
  "network-unknown": { cni: 101, meaning: "A network the pod asks for does not exist" },
  "annotation-invalid": { cni: 102, meaning: "The pod's network annotation cannot be used" },
  "interface-taken": { cni: 103, meaning: "Two attachments want one interface name, or the namespace has it already" },
  "delegate-failed": { cni: 104, meaning: "A plugin failed without a CNI error of its own" },
  "delegate-timeout": { cni: 105, meaning: "A plugin ran past its deadline and was killed with its children" },
  "delegate-missing": { cni: 106, meaning: "A plugin's program is not in CNI_PATH" },
  "delegate-oom": { cni: 107, meaning: "The kernel killed a plugin because its cgroup or the node was out of memory" },
  "routes-failed": { cni: 108, meaning: "The default route could not be set as the pod asks" },
  "state-unwritable": { cni: 109, meaning: "The journal cannot be written, so nothing was started" },
  "state-damaged": { cni: 110, meaning: "A record of the journal is damaged and was put aside" },
  "hand-lost": { cni: 111, meaning: "The shim that was doing the work went away" },
  "protocol-violated": { cni: 112, meaning: "A frame on the socket broke the protocol" },
  "setting-invalid": { cni: 113, meaning: "The daemon's own configuration has problems" },
  "isolation-violated": { cni: 114, meaning: "Namespace isolation forbids the pod this network" },
  "daemon-unreachable": { cni: 115, meaning: "The daemon did not answer on its socket" },
  "state-newer": { cni: 116, meaning: "The state folder was written by a newer Levee; install that version again" },
  "api-unreachable": { cni: 117, meaning: "The API server did not answer, or cannot be asked" },
  "api-refused": { cni: 118, meaning: "The API server answered a request with an error" },
  "delegate-unrunnable": { cni: 119, meaning: "A plugin's program is in CNI_PATH but cannot be executed" },
  "internal": { cni: 199, meaning: "A defect in Levee; please report it" },
} as const satisfies Record<string, { readonly cni: number; readonly meaning: string }>;

export type ErrorCode = keyof typeof errorCatalogue;

/** An error of the catalogue. The message says what could not be done, why, and the value seen. */
export class LeveeError extends Error {
  override readonly name = "LeveeError";
  readonly code: ErrorCode;
  /** The CNI number sent to the runtime: a plugin's own number when it had one, else the catalogue's. */
  readonly cniCode: number;
  readonly details: string;

  constructor(code: ErrorCode, message: string, options: ErrorFacts = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.cniCode = options.cniCode ?? errorCatalogue[code].cni;
    this.details = options.details ?? "";
  }
}

interface ErrorFacts {
  readonly cause?: unknown;
  readonly cniCode?: number;
  readonly details?: string;
}

/** Makes an error of the catalogue of anything thrown, and keeps one that already is. */
export function toLeveeError(thrown: unknown, doing: string): LeveeError {
  if (thrown instanceof LeveeError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new LeveeError("internal", `${doing}: ${message}`, { cause: thrown });
}

/** The errno name (`ENOSPC`, …) of a system error, or undefined. */
export function errnoOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !("code" in thrown)) return undefined;
  return typeof thrown.code === "string" ? thrown.code : undefined;
}
