import type { Alertmanager } from "./alertmanager.ts";
import { UnexpectedStatus } from "./get-text.ts";

/** What to do when it cannot be asked, to be added to why; empty when why says it already. */
export function alertmanagerRemedy(thrown: unknown, { token, ca }: Alertmanager): string {
  if (thrown instanceof UnexpectedStatus) return statusRemedy(thrown.status, token);
  const code = codeOf(thrown);
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return "; name one of those with server-name=";
  if (!authorityCodes.has(code)) return "";
  return ca === undefined ? "; name its authority with ca=FILE" : `; ca=${ca} has to hold its authority`;
}

/** A certificate of an authority that is not known here, however much of the chain was sent. */
const authorityCodes: ReadonlySet<string> = new Set([
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
]);

function statusRemedy(status: number, token: string | undefined): string {
  if (status !== 401 && status !== 403) return "";
  if (token === undefined) return "; it wants to know who asks: add token=FILE";
  if (status === 401) return `; it does not take the token of ${token}: is that of this cluster, and not expired?`;
  return `; the account of ${token} may not read alerts: on OpenShift bind it to the Role monitoring-alertmanager-view in openshift-monitoring`;
}

function codeOf(thrown: unknown): string {
  const { cause } = thrown instanceof Error ? thrown : {};
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}
