import { LeveeError } from "../../base/errors.ts";
import type { ExecCredential, ExecSpec, RunExec } from "../../kube/access/exec-login.ts";
import { isSuccess, runProgram, type ProgramEnd } from "../run-program.ts";
import type { Shell } from "../shell.ts";

/** A login may wait for a person at a browser. */
const loginTimeoutMs = 120_000;
const stderrCharsShown = 300;

/** Runs the login program of a kubeconfig (`client.authentication.k8s.io`). Only commands do this, never the daemon. */
export function execCredential(shell: Pick<Shell, "clock" | "env" | "interrupted">): RunExec {
  return async (spec) => {
    if (spec.needsTerminal) throw failed(spec, "it needs a terminal (interactiveMode: Always), but gets none");
    const end = await runProgram(shell.clock, {
      file: spec.command,
      args: spec.args,
      env: environment(shell, spec),
      timeoutMs: loginTimeoutMs,
      signal: shell.interrupted,
    });
    if (!isSuccess(end)) throw failed(spec, reasonOf(end, spec));
    return parseCredential(spec, end.stdout);
  };
}

/** Login programs read their own settings from the whole environment, as under kubectl. */
function environment(shell: Pick<Shell, "env">, spec: ExecSpec): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(shell.env)) if (value !== undefined) env[name] = value;
  const cluster = spec.cluster === undefined ? {} : { cluster: spec.cluster };
  const info = { apiVersion: spec.apiVersion, kind: "ExecCredential", spec: { interactive: false, ...cluster } };
  return { ...env, ...spec.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) };
}

function parseCredential(spec: ExecSpec, stdout: string): ExecCredential {
  const answer = objectOf(parseJson(spec, stdout));
  if (answer["apiVersion"] !== spec.apiVersion)
    throw failed(spec, `its answer must have the apiVersion ${spec.apiVersion}: ${String(answer["apiVersion"])}`);
  const status = objectOf(answer["status"]);
  const token = textOf(status["token"]);
  const certificate = textOf(status["clientCertificateData"]);
  const key = textOf(status["clientKeyData"]);
  if (token === undefined && certificate === undefined)
    throw failed(spec, "its answer has neither token nor certificate");
  if ((certificate === undefined) !== (key === undefined))
    throw failed(spec, "its answer has a certificate without its key, or the key alone");
  return { token, certificate, key, expiresAtMs: expiry(spec, textOf(status["expirationTimestamp"])) };
}

function expiry(spec: ExecSpec, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw failed(spec, `its expirationTimestamp is not a time: ${text}`);
  return ms;
}

function parseJson(spec: ExecSpec, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The answer may hold a secret, so it is not quoted.
    throw failed(spec, "its answer is not JSON");
  }
}

function reasonOf(end: ProgramEnd, spec: ExecSpec): string {
  if (end.startError === "ENOENT")
    return `it is not installed${spec.installHint === "" ? "" : ` (${spec.installHint})`}`;
  if (end.startError !== undefined) return `it could not be started (${end.startError})`;
  if (end.stopped !== undefined) return end.stopped === "timeout" ? `it took over ${loginTimeoutMs} ms` : "interrupted";
  const said = end.stderr.trim().slice(-stderrCharsShown);
  return `it ended with ${end.exitCode ?? end.signal ?? "nothing"}${said === "" ? "" : `: ${said}`}`;
}

function failed(spec: ExecSpec, why: string): LeveeError {
  return new LeveeError("api-unreachable", `Cannot log in to the API server with ${spec.command}: ${why}`);
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  // Any object; each field is checked before use.
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
