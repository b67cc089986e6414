/** Who sends a request. */
export interface ApiUser {
  /** Admission knows these apart. */
  readonly account: "guard" | "daemon" | "tenant" | "person" | "controller";
  /** The process of a guard, or the name of a person. */
  readonly name: string;
}

export const controller: ApiUser = { account: "controller", name: "controller" };
/** The client that makes pods without an owner. */
export const tenantClient: ApiUser = { account: "tenant", name: "browser-operator" };

/** One request as the server takes it in. */
export interface ServedRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  /** When it was sent. */
  readonly sentMs: number;
}
