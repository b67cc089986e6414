import type { Clock } from "../../base/clock.ts";
import type { ServerFiles } from "../facts/guard-settings.ts";
import { getText, UnexpectedStatus, type TextGetter } from "./get-text.ts";
import { credentialsFrom } from "./server-credentials.ts";

/** An Alertmanager and its credentials, from the setting `--alertmanager`. */
export interface Alertmanager extends ServerFiles {
  readonly url: string;
}

/** An Alertmanager that takes longer is itself affected by the outage. */
const answerMs = 5_000;
/** 2,000 alerts of 2 KB each. */
const bytesMax = 4_194_304;
/** Shorter pieces occur in every token of its kind. */
const pieceChars = 12;

/**
 * Resolves with the answer. Both files are read each time, because they rotate; without one, no request is sent. The
 * error says why there is no answer and what may help, and never contains the token.
 */
export async function askAlertmanager(
  clock: Clock,
  alertmanager: Alertmanager,
  path: string,
  { signal, getText: get = getText }: { readonly signal: AbortSignal; readonly getText?: TextGetter | undefined },
): Promise<string> {
  const credentials = await credentialsFrom(alertmanager);
  const limits = { accept: "application/json", deadlineMs: answerMs, bytesMax };
  try {
    const text = await get(clock, { server: alertmanager.url, path, credentials, ...limits }, signal);
    if (credentials.token !== undefined && text.includes(credentials.token)) throw new Error(credentials.token);
    return text;
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    // A message may quote the answer, and a proxy's answer may quote the request.
    const told = hasPieceOf(why, credentials.token) ? "its answer repeats the token and is not shown" : why;
    throw new Error(told + alertmanagerRemedy(thrown, alertmanager), { cause: thrown });
  }
}

function hasPieceOf(text: string, token: string | undefined): boolean {
  if (token === undefined) return false;
  const last = Math.max(0, token.length - pieceChars);
  for (let at = 0; at <= last; at += 1) if (text.includes(token.slice(at, at + pieceChars))) return true;
  return false;
}

/** A hint to append to the error; empty when the error is enough. */
function alertmanagerRemedy(thrown: unknown, { token, ca }: Alertmanager): string {
  if (thrown instanceof UnexpectedStatus) return statusRemedy(thrown.status, token);
  const code = codeOf(thrown);
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return "; set server-name= to one of those";
  if (!authorityCodes.has(code)) return "";
  return ca === undefined
    ? "; give its certificate authority with ca=FILE"
    : `; ca=${ca} must hold its certificate authority`;
}

/** OpenSSL's codes for a certificate from an unknown authority. */
const authorityCodes: ReadonlySet<string> = new Set([
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
]);

function statusRemedy(status: number, token: string | undefined): string {
  if (status !== 401 && status !== 403) return "";
  if (token === undefined) return "; it demands a token: add token=FILE";
  if (status === 401) return `; it refuses the token of ${token}: is the token for this cluster, and has it expired?`;
  return `; the account of ${token} may not read alerts: on OpenShift bind it to the Role monitoring-alertmanager-view in openshift-monitoring`;
}

function codeOf(thrown: unknown): string {
  const { cause } = thrown instanceof Error ? thrown : {};
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}
