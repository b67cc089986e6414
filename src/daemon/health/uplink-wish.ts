import { uplinkAnnotation, uplinkVlanAnnotation } from "../../base/annotations.ts";
import { LeveeError } from "../../base/errors.ts";
import { firstChars } from "../../base/short-text.ts";
import { isIfName } from "../../cni/interface-name.ts";
import type { BridgeNeed } from "../../readiness/uplink-rules.ts";

/** What a site says about the uplink of a bridge network, by the annotations of its definition and the setting. */
export interface UplinkWish {
  /** The bridge is meant to lead nowhere, so it may as well be made by the plugin. */
  readonly isNone?: true;
  readonly need?: Omit<BridgeNeed, "bridge">;
  /** The gate is off: a bridge that lacks something is only a doubt. */
  readonly isOpen?: true;
}

const vlanForm = /^(?<id>[1-9]\d{0,3})(?:@(?<parent>.+))?$/u;
const vlanIdMax = 4_094;
/** An annotation may have 256 KiB. */
const valueCharsMax = 100;

/** Whether pods are kept from a network without its uplink: as its annotations say, otherwise as the setting says. */
export function isGateClosed(annotations: Readonly<Record<string, string>>, isGated: boolean): boolean {
  const uplink = annotations[uplinkAnnotation];
  // Without an uplink a tag may still be lost.
  if (uplink === "none") return isGated;
  return isGated || uplink !== undefined || annotations[uplinkVlanAnnotation] !== undefined;
}

/** Throws a LeveeError that names the annotation and its value. */
export function uplinkWish(annotations: Readonly<Record<string, string>>, isGated: boolean): UplinkWish {
  const uplink = annotations[uplinkAnnotation];
  const open = isGateClosed(annotations, isGated) ? {} : ({ isOpen: true } as const);
  if (uplink === "none") return { isNone: true, ...open };
  if (uplink !== undefined && !isIfName(uplink))
    throw unusable(uplinkAnnotation, uplink, 'an interface name or "none"');
  const vlan = vlanOf(annotations[uplinkVlanAnnotation]);
  const need = { ...(uplink === undefined ? {} : { uplink }), ...vlan };
  return Object.keys(need).length === 0 ? open : { need, ...open };
}

function vlanOf(text: string | undefined): Pick<BridgeNeed, "vlan" | "parent"> {
  if (text === undefined) return {};
  const { id, parent } = vlanForm.exec(text)?.groups ?? {};
  if (id === undefined || Number(id) > vlanIdMax || (parent !== undefined && !isIfName(parent)))
    throw unusable(uplinkVlanAnnotation, text, `a VLAN of 1 to ${vlanIdMax}, such as 57, or with its parent 57@eth1`);
  return { vlan: Number(id), ...(parent === undefined ? {} : { parent }) };
}

function unusable(annotation: string, value: string, rule: string): LeveeError {
  const seen = JSON.stringify(firstChars(value, valueCharsMax));
  return new LeveeError(
    "config-invalid",
    `Cannot use the annotation ${annotation} as it must be ${rule}: current value is ${seen}`,
  );
}
