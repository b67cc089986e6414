import { existsSync } from "node:fs";
import { join } from "node:path";
import type { GitRepository } from "./git-repository.ts";

/** The folders of git and its helpers in the guard's image. */
const path = "/usr/local/bin:/usr/bin:/bin";

/**
 * The whole environment of git. It inherits no variable and no setting of the guard, the machine or a user; git prompts for
 * nothing, runs no hook, follows no redirect, and uses only the protocol of this repository's address.
 */
export function gitEnvironment(repository: GitRepository, home: string): Record<string, string> {
  const settings = [...fixedSettings, ...remoteSettings(repository)];
  return {
    PATH: path,
    HOME: home,
    LC_ALL: "C",
    TZ: "UTC",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_CEILING_DIRECTORIES: "/",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "/bin/false",
    SSH_ASKPASS_REQUIRE: "never",
    GIT_ALLOW_PROTOCOL: repository.scheme,
    GIT_SSH_COMMAND: sshCommand(repository.credentials),
    GIT_SSH_VARIANT: "ssh",
    ...(repository.credentials === undefined ? {} : { LEVEE_GIT_CREDENTIALS: repository.credentials }),
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}

/** What a repository's credentials lack; undefined when they are complete or not needed. */
export function credentialProblem({ scheme, credentials }: GitRepository): string | undefined {
  if (credentials === undefined) return scheme === "ssh" ? "ssh needs credentials=FOLDER" : undefined;
  const needed = scheme === "ssh" ? ["ssh-privatekey", "known_hosts"] : ["username", "password"];
  const missing = needed.filter((name) => !existsSync(join(credentials, name)));
  return missing.length === 0 ? undefined : `${credentials} has no ${missing.join(" and no ")}`;
}

const fixedSettings: readonly (readonly [string, string])[] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.askPass", "/bin/false"],
  ["credential.helper", ""],
  ["http.followRedirects", "false"],
  // A server that sends almost nothing counts as unreachable. Each run has a time limit as well.
  ["http.lowSpeedLimit", "100"],
  ["http.lowSpeedTime", "20"],
  ["submodule.recurse", "false"],
  ["fetch.recurseSubmodules", "false"],
  ["push.recurseSubmodules", "no"],
  ["protocol.version", "2"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["advice.detachedHead", "false"],
  // Git shares the guard's memory: one thread, small windows, streamed large files.
  ["pack.threads", "1"],
  ["pack.windowMemory", "16m"],
  ["core.packedGitWindowSize", "4m"],
  ["core.packedGitLimit", "16m"],
  ["core.deltaBaseCacheLimit", "4m"],
  ["core.bigFileThreshold", "1m"],
];

function remoteSettings({ url, credentials }: GitRepository): readonly (readonly [string, string])[] {
  const ca = credentials === undefined ? "" : join(credentials, "ca.crt");
  return [
    ["remote.origin.url", url],
    ["remote.origin.promisor", "true"],
    ["remote.origin.partialclonefilter", "blob:none"],
    ...(credentials === undefined ? [] : [["credential.helper", passwordHelper] as const]),
    ...(ca !== "" && existsSync(ca) ? [["http.sslCAInfo", ca] as const] : []),
  ];
}

/** `printf` is a shell builtin: the password is in no command line, and the file is read each time. */
const passwordHelper =
  '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$(cat "$LEVEE_GIT_CREDENTIALS/username")" "$(cat "$LEVEE_GIT_CREDENTIALS/password")"; }; f';

/** The folder's name has only plain characters (`git-repository.ts`). */
function sshCommand(credentials: string | undefined): string {
  const folder = credentials ?? "/nonexistent";
  const options = [
    "BatchMode=yes",
    "StrictHostKeyChecking=yes",
    `UserKnownHostsFile=${folder}/known_hosts`,
    "GlobalKnownHostsFile=/dev/null",
    `IdentityFile=${folder}/ssh-privatekey`,
    "IdentitiesOnly=yes",
    "IdentityAgent=none",
    "PreferredAuthentications=publickey",
    "ControlMaster=no",
    "ControlPath=none",
    "ClearAllForwardings=yes",
    "ForwardAgent=no",
    "PermitLocalCommand=no",
    "ProxyCommand=none",
    "UpdateHostKeys=no",
    "ConnectTimeout=15",
    "ServerAliveInterval=10",
    "ServerAliveCountMax=3",
  ];
  return ["ssh", "-F", "/dev/null", ...options.flatMap((option) => ["-o", option])].join(" ");
}
