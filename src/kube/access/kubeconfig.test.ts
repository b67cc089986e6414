import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecCredential, ExecSpec } from "./exec-login.ts";
import { kubeconfigAccess, type KubeconfigAccess, type KubeconfigOptions } from "./kubeconfig.ts";
import { ManualClock } from "../manual-clock.fixture.ts";

let folder: string;
let clock: ManualClock;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-kubeconfig-"));
  clock = new ManualClock();
});

afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

/** A kubeconfig of one cluster and one user, each given as YAML in flow style. */
function config(cluster: string, user: string): string {
  return `apiVersion: v1
kind: Config
current-context: main
contexts:
- name: main
  context: {cluster: here, user: me, namespace: lab}
- name: other
  context: {cluster: here, user: nobody}
clusters:
- name: here
  cluster: {server: "https://api.test:6443/", ${cluster}}
users:
- name: me
  user: {${user}}
`;
}

function open(text: string, options: Partial<KubeconfigOptions> = {}): Promise<KubeconfigAccess> {
  return kubeconfigAccess({ paths: [write("config", text)], clock, ...options });
}

test("kubeconfigAccess reads what the current context names", async () => {
  const access = await open(config(`certificate-authority-data: ${base64("CA")}, tls-server-name: api`, "token: t1"));
  expect(access).toMatchObject({ server: "https://api.test:6443", context: "main", namespace: "lab" });
  expect(await access.credentials()).toEqual({ token: "t1", tls: { ca: "CA", servername: "api" } });
});

test("kubeconfigAccess finds files beside the kubeconfig, and reads them again as they change", async () => {
  mkdirSync(join(folder, "pki"));
  for (const name of ["ca", "cert", "key", "token"]) write(`pki/${name}`, `${name}-1`);
  const user = "client-certificate: pki/cert, client-key: pki/key, tokenFile: pki/token, token: beside";
  const access = await open(config("certificate-authority: pki/ca", user));
  const before = await access.credentials();
  expect(before).toEqual({ token: "token-1", tls: { ca: "ca-1", cert: "cert-1", key: "key-1" } });
  write("pki/token", "token-2");
  await clock.advance(1000);
  const rotated = await access.credentials();
  expect(rotated.token).toBe("token-2");
  expect(rotated.tls).toBe(before.tls);
  write("pki/cert", "cert-2");
  access.renew();
  expect((await access.credentials()).tls).toEqual({ ca: "ca-1", cert: "cert-2", key: "key-1" });
});

test("kubeconfigAccess prefers data to a file, and may skip verification", async () => {
  const user = `client-certificate: missing, client-certificate-data: ${base64("C")}, client-key-data: ${base64("K")}`;
  const access = await open(config("insecure-skip-tls-verify: true", user));
  expect(await access.credentials()).toEqual({
    token: undefined,
    tls: { rejectUnauthorized: false, cert: "C", key: "K" },
  });
});

test("kubeconfigAccess lets the first of several files win, each with its own folder", async () => {
  mkdirSync(join(folder, "one"));
  write("one/ca", "CA-one");
  const first = write(
    "one/config",
    'clusters: [{name: here, cluster: {server: "http://first.test", certificate-authority: ca}}]',
  );
  const second = write("config", config("", "token: t2"));
  const access = await kubeconfigAccess({ paths: [first, second], clock });
  expect(access.server).toBe("http://first.test");
  expect(await access.credentials()).toEqual({ token: "t2", tls: { ca: "CA-one" } });
});

for (const [what, text, options, message] of [
  ["no current context", "clusters: []", {}, "current-context must be set: current value is nothing"],
  ["an unknown context", config("", ""), { context: "x" }, "(there is main, other): current value is x"],
  ["an unknown user", config("", ""), { context: "other" }, "users must have an entry of that name"],
  ["no server", config("", "").replace("https://api.test:6443/", ""), {}, "must be an http or https URL"],
  ["impersonation", config("", "token: t, as: boss"), {}, "user me may not have as, which is not supported"],
  ["a proxy", config('proxy-url: "http://proxy.test"', ""), {}, "cluster here may not have proxy-url"],
  ["a login program in the daemon", config("", "exec: {command: x}"), {}, "the daemon starts no programs"],
  ["bad YAML", "a: [", {}, "Cannot read the kubeconfig"],
  ["a list", "[]", {}, "it must be an object"],
] as const) {
  test(`kubeconfigAccess refuses ${what}`, () => {
    expect(open(text, options)).rejects.toThrow(message);
  });
}

test("kubeconfigAccess refuses a login program of an unknown version, or none at all", async () => {
  const runExec = (): Promise<ExecCredential> => Promise.reject(new Error("not run"));
  const exec = (fields: string): Promise<unknown> => open(config("", `exec: {${fields}}`), { runExec });
  expect(exec("command: x, apiVersion: client.authentication.k8s.io/v1alpha1")).rejects.toThrow("apiVersion must be");
  expect(exec("apiVersion: client.authentication.k8s.io/v1")).rejects.toThrow("command must be set");
});

test("kubeconfigAccess runs the login program once until its credential expires or is refused", async () => {
  const specs: ExecSpec[] = [];
  const runExec = (spec: ExecSpec): Promise<ExecCredential> => {
    specs.push(spec);
    const expiresAtMs = clock.wallMs() + 60_000;
    return Promise.resolve({ token: `t${specs.length}`, certificate: "C", key: "K", expiresAtMs });
  };
  const exec =
    "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: ./bin/login, args: [a, 1], env: [{name: A, value: b}], provideClusterInfo: true}";
  const access = await open(config(`certificate-authority-data: ${base64("CA")}`, exec), { runExec });
  const [first] = await Promise.all([access.credentials(), access.credentials()]);
  expect(first).toEqual({ token: "t1", tls: { ca: "CA", cert: "C", key: "K" } });
  expect(specs).toEqual([
    {
      apiVersion: "client.authentication.k8s.io/v1beta1",
      command: join(folder, "bin/login"),
      args: ["a", "1"],
      env: { A: "b" },
      cluster: { "server": "https://api.test:6443", "certificate-authority-data": base64("CA") },
      needsTerminal: false,
      installHint: "",
    },
  ]);
  await clock.advance(49_000);
  expect((await access.credentials()).token).toBe("t1");
  await clock.advance(1000);
  expect((await access.credentials()).token).toBe("t2");
  access.renew();
  expect((await access.credentials()).token).toBe("t3");
});
