import { resolve } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { isObject, textOf } from "../client/json-fields.ts";

/** A login program, as a kubeconfig describes it. */
export interface ExecSpec {
  readonly apiVersion: ExecApiVersion;
  /** A name to look up in PATH, or an absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The facts about the cluster that it gets; undefined when it does not ask for them. */
  readonly cluster: ExecCluster | undefined;
  /** It needs a terminal. */
  readonly needsTerminal: boolean;
  /** Shown when the program is not installed. */
  readonly installHint: string;
}

type ExecApiVersion = "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1";

type ExecCluster = Readonly<Record<string, string | boolean>>;

/** The output of such a program. */
export interface ExecCredential {
  readonly token: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  /** On the wall clock; undefined when it is valid until the server refuses it. */
  readonly expiresAtMs: number | undefined;
}

export type RunExec = (spec: ExecSpec) => Promise<ExecCredential>;

/** A credential is renewed this early, so that it does not expire on its way to the server. */
const earlyMs = 10_000;

/** Keeps the credential of a login program until it expires or is refused. */
export class ExecLogin {
  readonly #spec: ExecSpec;
  readonly #run: RunExec;
  readonly #clock: Clock;
  #kept: ExecCredential | undefined;
  #running: Promise<ExecCredential> | undefined;

  constructor(spec: ExecSpec, run: RunExec, clock: Clock) {
    this.#spec = spec;
    this.#run = run;
    this.#clock = clock;
  }

  /** Several requests at once share one run, because it may open a browser. */
  async current(): Promise<ExecCredential> {
    if (this.#kept !== undefined && !this.#isOver(this.#kept)) return this.#kept;
    this.#running ??= this.#run(this.#spec).finally(() => {
      this.#running = undefined;
    });
    this.#kept = await this.#running;
    return this.#kept;
  }

  expire(): void {
    this.#kept = undefined;
  }

  #isOver({ expiresAtMs }: ExecCredential): boolean {
    return expiresAtMs !== undefined && expiresAtMs - earlyMs <= this.#clock.wallMs();
  }
}

interface ExecClusterSource {
  readonly server: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Reads `exec` of a user. A relative command with a slash starts from the kubeconfig's own folder. */
export function execSpecOf(
  exec: Readonly<Record<string, unknown>>,
  folder: string,
  cluster: ExecClusterSource,
): ExecSpec {
  const command = textOf(exec["command"]);
  if (command === "") throw execProblem("command must be set", exec["command"]);
  return {
    apiVersion: apiVersionOf(exec["apiVersion"]),
    command: command.includes("/") ? resolve(folder, command) : command,
    args: Array.isArray(exec["args"]) ? exec["args"].map(String) : [],
    env: envOf(exec["env"]),
    cluster: exec["provideClusterInfo"] === true ? clusterInfo(cluster) : undefined,
    needsTerminal: exec["interactiveMode"] === "Always",
    installHint: textOf(exec["installHint"]),
  };
}

function apiVersionOf(value: unknown): ExecApiVersion {
  if (value === "client.authentication.k8s.io/v1" || value === "client.authentication.k8s.io/v1beta1") return value;
  throw execProblem(
    "apiVersion must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1",
    value,
  );
}

function envOf(list: unknown): Record<string, string> {
  if (!Array.isArray(list)) return {};
  const pairs = list.filter(isObject).map((item) => [textOf(item["name"]), textOf(item["value"])] as const);
  return Object.fromEntries(pairs.filter(([name]) => name !== ""));
}

function clusterInfo({ server, fields }: ExecClusterSource): ExecCluster {
  const info: Record<string, string | boolean> = { server };
  for (const key of ["certificate-authority-data", "tls-server-name"] as const)
    if (typeof fields[key] === "string") info[key] = fields[key];
  if (fields["insecure-skip-tls-verify"] === true) info["insecure-skip-tls-verify"] = true;
  return info;
}

function execProblem(rule: string, seen: unknown): LeveeError {
  return new LeveeError(
    "config-invalid",
    `Cannot use the kubeconfig's exec plugin as ${rule}: current value is ${JSON.stringify(seen) ?? "nothing"}`,
  );
}
