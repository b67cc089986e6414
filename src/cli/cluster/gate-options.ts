import type { Command } from "commander";
import { defaultGateSettings, gateDoors, type GateDoor, type GateSettings } from "../../guard/gate/gate-settings.ts";
import { parseRebootWindow } from "../../guard/gate/reboot-window.ts";
import { usageFailure } from "../failure.ts";

export interface GateOptions {
  /** False: no gate at all. */
  readonly gate?: boolean;
  readonly gateDoor?: readonly string[];
  readonly gateExpiry?: string;
  readonly gateAtOnce?: string;
  readonly rebootWindow?: string;
  readonly kured?: readonly string[];
}

/** Below half a minute a slow API server would close the gate; above ten minutes no reader believes it. */
const expirySeconds = { min: 30, max: 600 };
const atOnceLimits = { min: 1, max: 100 };

type Several = (value: string, before?: readonly string[]) => readonly string[];

export function addGateOptions(command: Command, several: Several): void {
  command
    .option(
      "--gate-door <door>",
      "a way in which the reboot gate shows its verdicts: label, annotation, lease or http; may be repeated (default: none)",
      several,
    )
    .option("--gate-expiry <seconds>", "how long a verdict of the reboot gate stands, from 30 to 600 (default: 120)")
    .option("--gate-at-once <nodes>", "how many nodes the reboot gate lets through at the same time (default: 1)")
    .option(
      "--reboot-window <window>",
      'when nodes may be rebooted, such as "Mon-Fri 02:00-05:00 Europe/Berlin" (default: at any time)',
    )
    .option(
      "--kured <namespace/daemonset>",
      "kured, whose lock the reboot gate reads; may be repeated (default: kube-system/kured and kured/kured)",
      several,
    )
    .option("--no-gate", "no reboot gate: the guard looks at no reboots, and nothing is let through");
}

/** Parses the settings of the reboot gate; undefined for a guard without it. */
export function gateSettings(options: GateOptions): GateSettings | undefined {
  const { gate, gateDoor, gateExpiry, gateAtOnce, rebootWindow, kured } = options;
  if (gate === false) return withoutGate(options);
  return {
    ...defaultGateSettings,
    ...(gateDoor === undefined ? {} : { doors: [...new Set(gateDoor.map(doorOf))] }),
    ...(gateExpiry === undefined
      ? {}
      : { expiryMs: numberOf("--gate-expiry", gateExpiry, "a number of seconds", expirySeconds) * 1_000 }),
    ...(gateAtOnce === undefined
      ? {}
      : { atOnce: numberOf("--gate-at-once", gateAtOnce, "a number of nodes", atOnceLimits) }),
    ...(rebootWindow === undefined ? {} : { window: windowOf(rebootWindow) }),
    ...(kured === undefined ? {} : { kured: kured.map(kuredOf) }),
  };
}

/** A door that nobody opens is a mistake of whoever set it. */
function withoutGate({ gateDoor }: GateOptions): undefined {
  if (gateDoor === undefined) return undefined;
  throw usageFailure(
    `Cannot use --gate-door together with --no-gate: current value is ${JSON.stringify(gateDoor.join(","))}`,
    "leave one of the two out",
  );
}

function doorOf(text: string): GateDoor {
  const door = gateDoors.find((one) => one === text);
  if (door !== undefined) return door;
  throw usageFailure(
    `Cannot use --gate-door as it must be one of ${gateDoors.join(", ")}: current value is ${JSON.stringify(text)}`,
    "--gate-door label",
  );
}

function numberOf(
  flag: string,
  text: string,
  what: string,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw usageFailure(
    `Cannot use ${flag} as it must be ${what} from ${min} to ${max}: current value is ${JSON.stringify(text)}`,
    `${flag} ${flag === "--gate-expiry" ? 120 : 1}`,
  );
}

function windowOf(text: string): NonNullable<GateSettings["window"]> {
  const window = parseRebootWindow(text);
  if (!("problem" in window)) return window;
  throw usageFailure(
    `Cannot use --reboot-window as ${window.problem}: current value is ${JSON.stringify(text)}`,
    '--reboot-window "Mon-Fri 02:00-05:00 Europe/Berlin"',
  );
}

function kuredOf(text: string): string {
  if (/^[a-z0-9]([a-z0-9-]*[a-z0-9])?\/[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/u.test(text)) return text;
  throw usageFailure(
    `Cannot use --kured as it must be a namespace and a DaemonSet with a slash between them: current value is ${JSON.stringify(text)}`,
    "--kured kube-system/kured",
  );
}
