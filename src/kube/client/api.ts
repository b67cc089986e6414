import { LeveeError } from "../../base/errors.ts";

/** The API server as its callers see it. The implementation knows address, certificates and token. */
export interface KubeApi {
  /** Sends one request and resolves with the text of the body. Every answer other than 2xx is a `KubeError`. */
  call(request: KubeRequest): Promise<string>;
  /**
   * A watch: one JSON text per line, until the server ends it. Throws a `KubeError` when it is refused, cut, or silent
   * for `idleMs`, and the signal's reason when the signal is aborted. An unfinished last line is an error.
   */
  lines(path: string, options: LinesOptions): AsyncIterable<string>;
}

/** The API server for one who follows a resource. */
export interface FollowableApi extends KubeApi {
  /**
   * Reads a list of any length in the memory of one object: calls `onItem` with the JSON of each, and resolves with the
   * JSON of the list without its items. Errors are those of `lines`.
   */
  items(path: string, options: LinesOptions, onItem: (text: string) => void): Promise<string>;
}

export interface KubeRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Begins with a slash and includes the query. */
  readonly path: string;
  readonly body?: string;
  /** Of the body; `application/json` by default. */
  readonly contentType?: string;
  /** The form of the answer; `application/json` by default. */
  readonly accept?: string;
  /** Covers everything from connecting to the last byte, a stalled handshake and a slow body too. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

/** Asks for only the metadata of the written object. A server that does not support this sends the whole object. */
export const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

export interface LinesOptions {
  readonly signal: AbortSignal;
  /** The longest silence, before the first byte and between two bytes. */
  readonly idleMs: number;
  /** Called when the server has accepted the watch. The first line may come minutes later. */
  readonly onOpen?: () => void;
}

/** The API server did not answer, or refused the request. */
export class KubeError extends LeveeError {
  /** The HTTP status; undefined when no answer came. */
  readonly status: number | undefined;
  /** Kubernetes' own reason (`NotFound`, `Expired`, …); empty when it gave none. */
  readonly reason: string;
  /** The pause that the server asks for. */
  readonly retryAfterMs: number | undefined;

  constructor(code: KubeErrorCode, message: string, facts: KubeErrorFacts = {}) {
    super(code, message, facts.cause === undefined ? {} : { cause: facts.cause });
    this.status = facts.status;
    this.reason = facts.reason ?? "";
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** `api-unreachable`: it may work later. `api-refused`: the server answered with an error status. */
type KubeErrorCode = "api-unreachable" | "api-refused";

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
