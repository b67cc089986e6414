import { resolve } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import type { KubeAccess, KubeCredentials, KubeTls } from "./access.ts";
import { execSpecOf, ExecLogin, type ExecCredential, type RunExec } from "./exec-login.ts";
import { isObject } from "../client/json-fields.ts";
import { FreshFile } from "./fresh-file.ts";
import { readKubeconfigFiles, type KubeconfigEntry, type KubeconfigFiles } from "./kubeconfig-file.ts";

export interface KubeconfigOptions {
  /** The first file that names an entry wins. */
  readonly paths: readonly string[];
  /** Instead of current-context. */
  readonly context?: string | undefined;
  readonly clock: Clock;
  /** Runs a login program. Only the commands pass one: the daemon starts no programs. */
  readonly runExec?: RunExec;
}

export interface KubeconfigAccess extends KubeAccess {
  /** The namespace of the context; `default` when it names none. */
  readonly namespace: string;
  readonly context: string;
}

/** Fields that would mean another user or another server if they were ignored. */
const refusedOfUser = ["as", "as-uid", "as-groups", "as-user-extra", "auth-provider", "username", "password"];
const refusedOfCluster = ["proxy-url"];

/** The access that a kubeconfig describes. The files it names are read again when they rotate. */
export async function kubeconfigAccess(options: KubeconfigOptions): Promise<KubeconfigAccess> {
  const files = await readKubeconfigFiles(options.paths);
  const contextName = options.context ?? files.currentContext;
  if (contextName === undefined) throw problem(files, "current-context must be set", "nothing");
  const context = required(files, "contexts", contextName);
  const clusterName = textOf(context.fields["cluster"]) ?? "";
  const userName = textOf(context.fields["user"]) ?? "";
  const cluster = required(files, "clusters", clusterName);
  // A server without authentication needs no user.
  const user = userName === "" ? { fields: {}, folder: "" } : required(files, "users", userName);
  refuse(files, `cluster ${clusterName}`, cluster, refusedOfCluster);
  refuse(files, `user ${userName}`, user, refusedOfUser);
  const server = serverOf(files, clusterName, cluster);
  return {
    server,
    context: contextName,
    namespace: textOf(context.fields["namespace"]) ?? "default",
    ...credentialsOf({ files, cluster, user, userName, server, options }),
  };
}

interface Parts {
  readonly files: KubeconfigFiles;
  readonly cluster: KubeconfigEntry;
  readonly user: KubeconfigEntry;
  readonly userName: string;
  readonly server: string;
  readonly options: KubeconfigOptions;
}

function credentialsOf(parts: Parts): Pick<KubeAccess, "credentials" | "renew"> {
  const { cluster, user, options } = parts;
  const ca = sourceOf(cluster, "certificate-authority", options.clock);
  const cert = sourceOf(user, "client-certificate", options.clock);
  const key = sourceOf(user, "client-key", options.clock);
  const tokenFile = fileOf(user, "tokenFile", options.clock);
  const login = loginOf(parts);
  const fixed = fixedTls(cluster);
  let tls: KubeTls = fixed;
  return {
    async credentials(): Promise<KubeCredentials> {
      const given = await login?.current();
      const pair = await pairOf(given, cert, key);
      const now: KubeTls = { ...fixed, ...pair, ...present("ca", await ca.text()) };
      // The same object while nothing changes: another one would cut every connection.
      if (!sameTls(tls, now)) tls = now;
      // A token file wins over an inline token, as with kubectl.
      const token = (await tokenFile?.text())?.trim() ?? textOf(user.fields["token"]) ?? given?.token;
      return { token, tls };
    },
    renew() {
      for (const file of [ca.file, cert.file, key.file, tokenFile]) file?.expire();
      login?.expire();
    },
  };
}

/** A certificate and its key come from the same source: otherwise they would not match. */
async function pairOf(given: ExecCredential | undefined, cert: Source, key: Source): Promise<KubeTls> {
  const [certificate, secret] =
    given?.certificate === undefined ? [await cert.text(), await key.text()] : [given.certificate, given.key];
  return { ...present("cert", certificate), ...present("key", secret) };
}

function loginOf({ files, cluster, user, userName, server, options }: Parts): ExecLogin | undefined {
  const exec = user.fields["exec"];
  if (exec === undefined || exec === null) return undefined;
  if (!isObject(exec)) throw problem(files, `exec of the user ${userName} must be an object`, JSON.stringify(exec));
  if (options.runExec === undefined)
    throw new LeveeError(
      "config-invalid",
      `Cannot use the user ${userName} of ${files.paths.join(":")} as its exec plugin is a program, and the daemon starts no programs: give the user a token, a tokenFile or a client certificate`,
    );
  const spec = execSpecOf(exec, user.folder, { server, fields: cluster.fields });
  return new ExecLogin(spec, options.runExec, options.clock);
}

function fixedTls(cluster: KubeconfigEntry): KubeTls {
  return {
    ...present("servername", textOf(cluster.fields["tls-server-name"])),
    ...(cluster.fields["insecure-skip-tls-verify"] === true ? { rejectUnauthorized: false } : {}),
  };
}

/** A text in the kubeconfig itself or in a file that it names. */
interface Source {
  readonly file: FreshFile | undefined;
  text(): Promise<string | undefined>;
}

function sourceOf(entry: KubeconfigEntry, key: string, clock: Clock): Source {
  const data = textOf(entry.fields[`${key}-data`]);
  // Inline data wins over a file, as with kubectl.
  if (data !== undefined) {
    const text = Buffer.from(data, "base64").toString("utf8");
    return { file: undefined, text: () => Promise.resolve(text) };
  }
  const file = fileOf(entry, key, clock);
  return { file, text: async () => await file?.text() };
}

function fileOf(entry: KubeconfigEntry, key: string, clock: Clock): FreshFile | undefined {
  const path = textOf(entry.fields[key]);
  return path === undefined ? undefined : new FreshFile(resolve(entry.folder, path), clock);
}

function serverOf(files: KubeconfigFiles, name: string, cluster: KubeconfigEntry): string {
  const server = textOf(cluster.fields["server"]);
  if (server === undefined || !URL.canParse(server) || !/^https?:\/\//.test(server))
    throw problem(files, `server of the cluster ${name} must be an http or https URL`, server ?? "nothing");
  return server.replace(/\/+$/, "");
}

function required(files: KubeconfigFiles, kind: "clusters" | "users" | "contexts", name: string): KubeconfigEntry {
  const entry = files.entry(kind, name);
  if (entry !== undefined) return entry;
  const known = files.names(kind).join(", ");
  throw problem(files, `${kind} must have an entry of that name (there is ${known || "none"})`, name || '""');
}

function refuse(files: KubeconfigFiles, what: string, entry: KubeconfigEntry, keys: readonly string[]): void {
  const found = keys.find((key) => entry.fields[key] !== undefined && entry.fields[key] !== null);
  if (found !== undefined) throw problem(files, `${what} may not have ${found}, which is not supported`, "set");
}

function problem(files: KubeconfigFiles, rule: string, seen: string): LeveeError {
  return new LeveeError(
    "config-invalid",
    `Cannot use the kubeconfig ${files.paths.join(":")} as ${rule}: current value is ${seen}`,
  );
}

function sameTls(left: KubeTls, right: KubeTls): boolean {
  return left.ca === right.ca && left.cert === right.cert && left.key === right.key;
}

function present<K extends string>(key: K, value: string | undefined): { [key in K]?: string } {
  // A computed key loses its literal type.
  return value === undefined ? {} : ({ [key]: value } as { [key in K]?: string });
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
