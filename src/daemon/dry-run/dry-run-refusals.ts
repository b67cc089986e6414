import type { JsonText } from "../../base/brand.ts";
import { LeveeError } from "../../base/errors.ts";
import type { NetworkSource } from "../../attachment/plan.ts";
import type { Chain } from "../../cni/chain.ts";
import { ipamOf } from "../../cni/ipam.ts";
import { jsonKind, memberText, stringMember } from "../../cni/json-text.ts";
import { isBridgeType } from "../../cni/network-conf.ts";
import type { Hand } from "../../hands/hand.ts";
import { lacksLink } from "../../wire/netns-links.ts";
import { bridgeOf } from "../health/network-needs.ts";
import { changesOfBridge, gatewayPlace } from "./gateway-place.ts";

/** Plugins that move a device of the host. A namespace that ends takes a virtual one with it. */
const takesDevice: ReadonlySet<string> = new Set(["host-device", "sriov", "ib-sriov", "accelerated-bridge"]);

export function refuseDevice({ network, conf, resourceName, deviceRequest }: NetworkSource): void {
  if (resourceName !== undefined) {
    const from = deviceRequest === undefined || deviceRequest === "" ? "" : ` from the claim ${deviceRequest}`;
    throw new LeveeError(
      "field-unsupported",
      `Cannot try ${network}: it needs a device of ${resourceName}${from}, which the kubelet allots to pods only; start a pod with it instead`,
    );
  }
  const taker = conf.plugins.find(({ type }) => takesDevice.has(type));
  if (taker !== undefined)
    throw new LeveeError(
      "field-unsupported",
      `Cannot try ${network}: the plugin ${taker.type} takes a device away from the host; start a pod with it instead`,
    );
}

/** A pod that runs may have them, and the kernel of the throwaway namespace would announce them to the same segment. */
export function refuseFixed({ network, conf }: NetworkSource): void {
  const fixed = conf.plugins.flatMap(({ type, text }) => fixedIn(type, text))[0];
  if (fixed !== undefined)
    throw new LeveeError(
      "field-unsupported",
      `Cannot try ${network}: ${fixed}, which a running pod may have, and two on one segment disturb each other; start a pod with it where none runs`,
    );
}

function fixedIn(type: string, text: JsonText): readonly string[] {
  const isStatic = ipamOf(text).type === "static";
  const args = memberText(text, "args");
  const places = [text, args === undefined ? undefined : objectIn(args, "cni"), objectIn(text, "runtimeConfig")];
  const mac = places.map((place) => (place === undefined ? "" : stringMember(place, "mac"))).find((one) => one !== "");
  return [
    ...(isStatic ? ["its IPAM static gives the addresses of its configuration to every pod"] : []),
    ...(mac === undefined ? [] : [`its plugin ${type} sets the fixed MAC address ${mac}`]),
  ];
}

function objectIn(text: JsonText, key: string): JsonText | undefined {
  const value = jsonKind(text) === "object" ? memberText(text, key) : undefined;
  return value !== undefined && jsonKind(value) === "object" ? value : undefined;
}

/** The plugin would make the bridge, and its DEL would leave it. */
export async function refuseNewBridge(hand: Hand, { network, links }: Chain): Promise<void> {
  const bridges = links.flatMap(({ type, stdin }) => (isBridgeType(type) ? [bridgeOf(stdin)] : []));
  const host = bridges.length === 0 ? undefined : await hand.links("");
  const missing = bridges.find((name) => host === undefined || lacksLink(host, name));
  if (missing !== undefined)
    throw new LeveeError(
      "network-not-ready",
      `Cannot try ${network}: the host has no bridge ${missing}, so the plugin would make it and leave it there; make the bridge (ip link add ${missing} type bridge), or let the first pod make it`,
    );
}

/** The plugin would give the bridge the gateway's address, and its DEL would leave it. */
export async function refuseNewGateway(hand: Hand, { network, links }: Chain): Promise<void> {
  for (const { type, stdin } of links) {
    const place = isBridgeType(type) ? gatewayPlace(stdin) : undefined;
    if (place === undefined) continue;
    const held = (await hand.links("", { addressesOf: place.device }))?.addresses ?? [];
    const change = changesOfBridge(place, held);
    if (change !== undefined) throw new LeveeError("network-not-ready", `Cannot try ${network}: ${change}`);
  }
}
