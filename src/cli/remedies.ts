import { errorCatalogue, type ErrorCode } from "../base/errors.ts";
import { podText, type PodKey } from "./node/names.ts";
import type { Settings } from "./settings.ts";

/** The folders that a remedy may name. */
export type Places = Pick<Settings, "directory" | "stateDir">;

export const daemonRemedy =
  "check that the daemon runs (in a cluster: kubectl get pods -A -l app.kubernetes.io/name=levee -o wide) and that --socket-dir or LEVEE_SOCKET_DIR names its socketDir";

export const rootRemedy = "run the command as root";

const remedies: Partial<Record<ErrorCode, (places: Places) => string>> = {
  "daemon-unreachable": () => daemonRemedy,
  "network-unknown": ({ directory }) => `networks are files in ${directory}/networks`,
  "pod-unknown": ({ directory }) => `--directory must be the daemon's directory: it is ${directory} here`,
  "state-unwritable": ({ stateDir }) => `make room in ${stateDir}`,
  "delegate-unrunnable": () => "install the plugin again, built for this machine",
  "delegate-missing": () => "install the plugin in one of the folders of --cni-path",
};

export interface PrintedError {
  readonly code: number;
  readonly message: string;
}

export function remedyFor(error: PrintedError, places: Places, pod: PodKey): string {
  if (isDaemonAway(error)) return daemonRemedy;
  const known = Object.entries(remedies).find(([code]) => cniNumber(code) === error.code);
  return known?.[1](places) ?? `levee why ${podText(pod)}`;
}

/** Whether the shim found no daemon, so nothing has begun. The shim says "try later" for other reasons too. */
export function isDaemonAway({ code, message }: PrintedError): boolean {
  if (code === errorCatalogue["daemon-unreachable"].cni) return true;
  return code === errorCatalogue["try-later"].cni && message.startsWith("Cannot reach the daemon");
}

function cniNumber(code: string): number | undefined {
  return Object.entries(errorCatalogue).find(([known]) => known === code)?.[1].cni;
}
