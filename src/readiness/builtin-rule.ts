import { passed, type Check } from "./check.ts";

/** Which plugins of the node are built in, and which run as programs. */
export interface BuiltinFacts {
  readonly choice: "auto" | "off" | readonly string[];
  /** Programs that a hand has come across, with the upstream version that each is; undefined for another program. */
  readonly judged: readonly { readonly name: string; readonly version: string | undefined }[];
  /** Plugins of which a hand has found no program. */
  readonly absent: readonly string[];
}

/** Only information: pods are attached either way. */
export function builtinCheck({ choice, ...found }: BuiltinFacts): Check {
  return passed("plugins", typeof choice === "string" ? detailOf(choice, found) : listed(choice));
}

function listed(names: readonly string[]): string {
  return names.length === 0
    ? "all run as programs: builtinPlugins is an empty list"
    : `built in, whatever program is there: ${names.join(", ")}; all others run as programs`;
}

function detailOf(choice: "auto" | "off", { judged, absent }: Omit<BuiltinFacts, "choice">): string {
  if (choice === "off") return "all run as programs: builtinPlugins is off";
  const served = judged.filter(({ version }) => version !== undefined).map(({ name, version }) => `${name} ${version}`);
  const own = judged.filter(({ version }) => version === undefined).map(({ name }) => name);
  const parts = [
    ...(served.length === 0 ? [] : [`built in instead of upstream's programs: ${served.join(", ")}`]),
    ...(absent.length === 0 ? [] : [`built in, as no program is there: ${absent.join(", ")}`]),
    ...(own.length === 0 ? [] : [`as programs, because they are not known upstream ones: ${own.join(", ")}`]),
  ];
  return parts.length === 0 ? "built in where a program is missing; no program was looked at yet" : parts.join("; ");
}
