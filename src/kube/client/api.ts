import { LeveeError } from "../../base/errors.ts";

/** The API server, as everybody here talks to it. Whoever is behind it knows the address, the trust and the token. */
export interface KubeApi {
  /** One request. Resolves with the body's text; every answer that is not 2xx is a `KubeError`. */
  call(request: KubeRequest): Promise<string>;
  /**
   * A watch: one JSON text per line, until the server ends it. Throws a `KubeError` when it is refused, cut, or silent
   * for `idleMs`, and the signal's reason when that is aborted. A last line without its end is an error, not a line.
   */
  lines(path: string, options: LinesOptions): AsyncIterable<string>;
}

export interface KubeRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** From the slash on, with the query. */
  readonly path: string;
  readonly body?: string;
  /** Of the body; `application/json` unless told. */
  readonly contentType?: string;
  /** The form of the answer; `application/json` unless told. */
  readonly accept?: string;
  /** For everything from connecting to the last byte: a stalled handshake and a slow body count as well. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

/** Of what was written, only the metadata comes back; a server that cannot do that sends all of it. */
export const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

export interface LinesOptions {
  readonly signal: AbortSignal;
  /** The longest silence, before the first byte and between two. */
  readonly idleMs: number;
  /** Called once the server has accepted the watch; its first line may be minutes away. */
  readonly onOpen?: () => void;
}

/** The API server did not answer, or its answer was no. */
export class KubeError extends LeveeError {
  /** The HTTP status; undefined when no answer came. */
  readonly status: number | undefined;
  /** Kubernetes' own word for it (`NotFound`, `Expired`, …); empty when it gave none. */
  readonly reason: string;
  /** How long the server asks us to stay away. */
  readonly retryAfterMs: number | undefined;

  constructor(code: KubeErrorCode, message: string, facts: KubeErrorFacts = {}) {
    super(code, message, facts.cause === undefined ? {} : { cause: facts.cause });
    this.status = facts.status;
    this.reason = facts.reason ?? "";
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** `api-unreachable`: it may work later. `api-refused`: it was answered, with the status. */
export type KubeErrorCode = "api-unreachable" | "api-refused";

export interface KubeErrorFacts {
  readonly status?: number;
  readonly reason?: string;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** The HTTP status of a refusal, or undefined for any other error. */
export function kubeStatusOf(thrown: unknown): number | undefined {
  return thrown instanceof KubeError ? thrown.status : undefined;
}
