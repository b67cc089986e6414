import type { Chain } from "../../cni/chain.ts";
import { stringMember } from "../../cni/json-text.ts";

/** The device that a network's plugin was handed, from the bytes that it got. */
export function chainDevice({ links }: Pick<Chain, "links">): string | undefined {
  const text = links.find(({ stdin }) => stdin.includes('"deviceID"'))?.stdin;
  const device = text === undefined ? "" : stringMember(text, "deviceID");
  return device === "" ? undefined : device;
}
