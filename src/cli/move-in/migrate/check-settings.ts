import { LeveeError } from "../../../base/errors.ts";
import { parseDaemonConfig, type DaemonConfig } from "../../../config/daemon-config.ts";
import { multusKeys, type MultusKey } from "../../../config/multus-keys.ts";
import { ConfigError } from "../../../config/problem.ts";
import { hostSocketDir } from "../../../config/shim-conf.ts";
import { foldKey } from "../../../cni/fold-key.ts";
import type { Finding, Level } from "./finding.ts";

/** The findings about Multus' daemon-config.json, and the settings if they are readable. */
export interface SettingsCheck {
  readonly findings: readonly Finding[];
  readonly config: DaemonConfig | undefined;
}

export function checkSettings(object: string, text: string): SettingsCheck {
  const found = (level: Level, what: string, remedy = ""): Finding => ({
    topic: "settings",
    level,
    object,
    what,
    remedy,
  });
  let config: DaemonConfig;
  try {
    config = parseDaemonConfig(text, object);
  } catch (thrown) {
    return {
      findings: problemsOf(thrown).map((what) => found("blocks", what, "correct it before you move")),
      config: undefined,
    };
  }
  const used = config.rawOverlay.map(({ key }) => key).filter((key) => isServed(key, config.notices));
  return {
    config,
    findings: [
      found("ok", `used as Multus does: ${used.join(", ") || "nothing is set"}`),
      ...config.notices.map((notice) => explain(notice, found)),
      ...behaviour(config, found),
      ...placement(config, found),
    ],
  };
}

/** A key is served if Levee reads it, or if Levee always does what it asks for. */
function isServed(key: string, notices: readonly string[]): boolean {
  const row = rowOf(key);
  if (row?.use === "used") return true;
  return row?.anyway !== undefined && !notices.some((notice) => foldKey(notice).startsWith(`${foldKey(key)} `));
}

type Found = (level: Level, what: string, remedy?: string) => Finding;

function problemsOf(thrown: unknown): readonly string[] {
  if (thrown instanceof ConfigError)
    return thrown.problems.map(({ key, seen, remedy }) => `${key} is ${seen}, ${remedy}`);
  if (thrown instanceof LeveeError) return [thrown.message];
  throw thrown;
}

/** Keys without effect that a user will not miss. */
const harmless = new Set(
  ["chrootDir", "kubeconfig", "logToStderr", "connectionLimit", "retryDeleteOnError"].map(foldKey),
);

const remedies: Readonly<Record<string, string>> = {
  logfile: "collect the log of the container instead",
  logoptions: "the container runtime rotates the log; nothing to set",
  enablepprof: "use /metrics",
  pernodecertificate:
    "nothing to do: the pod's token is bound to its node; remove the certificate approver after the move",
  forcecniversion: "write the version you want into the primary network's own conf",
};

function explain(notice: string, found: Found): Finding {
  const key = foldKey(/^"?([^\s"]+)/u.exec(notice)?.[1] ?? "");
  if (harmless.has(key)) return found("ok", notice);
  const remedy = notice.includes("is an unknown setting") ? "remove it, or correct its name" : "correct it";
  return found("differs", notice, remedies[key] ?? (rowOf(key)?.use === "used" ? "correct it" : remedy));
}

/** Settings that Levee uses, with a deliberately different effect. */
function behaviour(config: DaemonConfig, found: Found): readonly Finding[] {
  const findings: Finding[] = [];
  if (config.readinessindicatorfile !== "")
    findings.push(
      found(
        "differs",
        `readinessindicatorfile: while ${config.readinessindicatorfile} is missing, only ADD waits; DEL works, and the daemon and its conf stay`,
      ),
    );
  if (config.multusConfigFile !== "auto")
    findings.push(
      found(
        "differs",
        `multusConfigFile: ${config.multusConfigFile} is copied and served; Multus ends after copying it`,
      ),
    );
  return findings;
}

/** The drop-in mounts only these folders of the host, so each path in the settings must be below one of them. */
const mounted = ["/host/etc/cni/net.d", "/host/run/multus", "/var/lib/cni/multus", "/etc/cni/multus/net.d"] as const;

function placement(config: DaemonConfig, found: Found): readonly Finding[] {
  const hostSocket = hostSocketDir(config).replace(/\/+$/u, "");
  const paths: readonly (readonly [string, string])[] = [
    ["socketDir", config.socketDir],
    ["cniConfigDir", config.cniConfigDir],
    ["multusAutoconfigDir", config.multusAutoconfigDir],
    ["cniDir", config.cniDir],
    ["confDir", config.confDir],
    ["multusConfigFile", config.multusConfigFile === "auto" ? "" : config.multusConfigFile],
    ["readinessindicatorfile", config.readinessindicatorfile],
    ["clusterNetwork", config.clusterNetwork.includes("/") ? config.clusterNetwork : ""],
  ];
  const lost = paths
    .filter(([, path]) => path !== "" && !mounted.some((folder) => `${path}/`.startsWith(`${folder}/`)))
    .map(([key, path]) =>
      found(
        "blocks",
        `${key} is ${path}, which the drop-in does not mount`,
        `mount the host's folder of ${path} at the same path in the drop-in's DaemonSet`,
      ),
    );
  if (hostSocket === "/run/multus") return lost;
  const what = `the shims would look for the daemon in ${hostSocket}, the drop-in's hand in /run/multus`;
  return [...lost, found("blocks", what, `give the hand --socket-dir ${hostSocket} in the drop-in`)];
}

function rowOf(key: string): MultusKey | undefined {
  const folded = foldKey(key);
  return Object.entries<MultusKey>(multusKeys).find(([name]) => foldKey(name) === folded)?.[1];
}
