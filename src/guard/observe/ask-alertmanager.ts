import { X509Certificate } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { KubeCredentials } from "../../kube/access/access.ts";
import { readFilledFile } from "../../kube/access/fresh-file.ts";
import { getText, UnexpectedStatus } from "./get-text.ts";

/** Where an Alertmanager is and how it knows us, as the setting `--alertmanager` says. */
export interface Alertmanager {
  readonly url: string;
  /** A file with a bearer token. */
  readonly token?: string;
  /** A file with the authorities that its certificate may be of, in place of the machine's. */
  readonly ca?: string;
  /** What its certificate is for, where the URL has an address. */
  readonly serverName?: string;
}

/** An Alertmanager that takes longer is a victim itself. */
const answerMs = 5_000;
/** 2,000 alerts of 2 KB each. */
const bytesMax = 4_194_304;
/** Shorter pieces of a token are words that every token of its kind has. */
const pieceChars = 12;

/**
 * The text that it answers with. Its files are read each time, as both rotate; without one nothing is sent. Throws an Error
 * that says why there is no text and what may help, and that never has the token in it.
 */
export async function askAlertmanager(
  clock: Clock,
  alertmanager: Alertmanager,
  path: string,
  signal: AbortSignal,
): Promise<string> {
  const credentials = await credentialsOf(alertmanager);
  const limits = { accept: "application/json", deadlineMs: answerMs, bytesMax };
  try {
    const text = await getText(clock, { server: alertmanager.url, path, credentials, ...limits }, signal);
    if (credentials.token !== undefined && text.includes(credentials.token)) throw new Error(credentials.token);
    return text;
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    // A message may quote the answer, and a proxy's answer the request.
    const told = hasPieceOf(why, credentials.token) ? "its answer repeats the token and is not shown" : why;
    throw new Error(told + alertmanagerRemedy(thrown, alertmanager), { cause: thrown });
  }
}

async function credentialsOf({ token, ca, serverName }: Alertmanager): Promise<KubeCredentials> {
  return {
    token: token === undefined ? undefined : (await read("token", token)).trim(),
    tls: {
      ...(ca === undefined ? {} : { ca: certificatesOf(await read("ca", ca), ca) }),
      ...(serverName === undefined ? {} : { servername: serverName }),
    },
  };
}

/** What was read before is not kept: whoever takes a token away wants it to be used no more. */
async function read(key: string, path: string): Promise<string> {
  try {
    return await readFilledFile(path);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`it was not asked as ${key}=${path} cannot be read (is it mounted?): ${why}`, { cause });
  }
}

/** Bun passes over what it cannot read behind the first certificate, and calls the rest "Invalid CA". */
function certificatesOf(text: string, path: string): string {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/gu) ?? [];
  if (blocks.length === 0) throw new Error(`it was not asked as ca=${path} has no certificate in PEM`);
  for (const [index, block] of blocks.entries()) {
    try {
      new X509Certificate(block);
    } catch (cause) {
      throw new Error(`it was not asked as certificate ${index + 1} of ca=${path} cannot be read`, { cause });
    }
  }
  return text;
}

function hasPieceOf(text: string, token: string | undefined): boolean {
  if (token === undefined) return false;
  const last = Math.max(0, token.length - pieceChars);
  for (let at = 0; at <= last; at += 1) if (text.includes(token.slice(at, at + pieceChars))) return true;
  return false;
}

/** What to do when it cannot be asked, to be added to why; empty when why says it already. */
function alertmanagerRemedy(thrown: unknown, { token, ca }: Alertmanager): string {
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
