import type { ConsoleProblem } from "../../wire/console-view.ts";

/** Every way in which a request is refused before anything is looked up for it; also the names that are counted. */
const refusals = {
  "wrong-token": {
    status: 401,
    message: "This address belongs to no running console",
    remedy: "open the link that levee console printed last",
  },
  "wrong-host": {
    status: 421,
    message: "This console does not answer under that name",
    remedy: "open the link that levee console printed; in a cluster, name the host with --host",
  },
  "wrong-origin": {
    status: 403,
    message: "Another page asked, and this console answers its own page only",
    remedy: "",
  },
  "wrong-method": { status: 405, message: "The console takes GET and its few POSTs only", remedy: "" },
  "wrong-address": { status: 404, message: "There is nothing at this address", remedy: "" },
  "wrong-content": { status: 415, message: "A verdict must be sent as application/json", remedy: "" },
  "too-long": { status: 413, message: "The request is longer than any that the page sends", remedy: "" },
  "not-json": { status: 400, message: "The request is not the JSON that the page sends", remedy: "" },
  "too-many": {
    status: 503,
    message: "Too many tabs follow this console",
    remedy: "close some of them",
  },
  "sign-in-needed": {
    status: 401,
    message: "The console needs a token of yours, and has none that is valid",
    remedy: "kubectl create token NAME, or the token of your login",
  },
  "not-allowed": {
    status: 403,
    message: "You may not look at this cluster as a whole",
    remedy: "kubectl create clusterrolebinding NAME --clusterrole=levee-viewer --user=USER",
  },
  "review-failed": {
    status: 503,
    message: "The API server could not be asked who you are",
    remedy: "kubectl get nodes must work; then try again",
  },
} as const satisfies Readonly<Record<string, Omit<ConsoleProblem, "code"> & { readonly status: number }>>;

export type RefusalCode = keyof typeof refusals;

/** A request that is not served, with the status and the words of its answer. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly code: RefusalCode;

  constructor(code: RefusalCode, why = "") {
    super(why === "" ? refusals[code].message : why);
    this.code = code;
  }

  get status(): number {
    return refusals[this.code].status;
  }

  get problem(): ConsoleProblem {
    return { code: this.code, message: this.message, remedy: refusals[this.code].remedy };
  }
}
