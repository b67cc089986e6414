import { memberOf, type JsonNode } from "../json-node.ts";
import { shownValue } from "../shown-value.ts";
import type { AddressProblem } from "./address-reading.ts";
import { addressBlock, addressNumber, rangeHas, type AddressBlock, type AddressNumber } from "./address-range.ts";
import type { AddressRange } from "./address-range.ts";

/** A value with the node to point at. */
export interface Placed<Value> {
  readonly value: Value;
  readonly node: JsonNode;
}

/** Reads the addresses of one object and collects what is wrong with them. */
export class AddressFields {
  readonly problems: AddressProblem[] = [];
  readonly #node: JsonNode;

  constructor(node: JsonNode) {
    this.#node = node;
  }

  block(key: string): Placed<AddressBlock> | undefined {
    return this.#read(key, addressBlock, "a subnet such as 10.1.0.0/24");
  }

  address(key: string): Placed<AddressNumber> | undefined {
    return this.#read(key, addressNumber, "an IP address");
  }

  /** The address of `key` if it is in the subnet; what is outside is a problem. */
  inside(key: string, { subnet, text }: { readonly subnet: AddressRange; readonly text: string }): bigint | undefined {
    const found = this.address(key);
    if (found === undefined) return undefined;
    if (rangeHas(subnet, found.value)) return found.value.value;
    this.problem(found.node, `"${key}" is not in ${text}`);
    return undefined;
  }

  /** A gateway outside is no error for the plugins, but pods cannot reach it. IPv6 routers may have link-local addresses. */
  gateway(subnet: AddressRange, text: string): Placed<AddressNumber> | undefined {
    const found = this.address("gateway");
    if (found === undefined) return undefined;
    const { family, value } = found.value;
    const isLinkLocal = family === 6 && value >> 118n === 0x3fan;
    if (!rangeHas(subnet, found.value) && !isLinkLocal)
      this.problem(found.node, `"gateway" is not in ${text}, so pods cannot reach it`, { severity: "warning" });
    return found;
  }

  problem(node: JsonNode, message: string, facts: Partial<Pick<AddressProblem, "severity" | "remedy">> = {}): void {
    this.problems.push({ severity: "error", message, span: node, ...facts });
  }

  #read<Value>(key: string, parse: (text: string) => Value | undefined, wanted: string): Placed<Value> | undefined {
    const node = memberOf(this.#node, key)?.value;
    // Another kind of value is LVN0303's; an empty text counts as none.
    if (node?.kind !== "string" || node.text === "") return undefined;
    const value = parse(node.text);
    if (value === undefined) {
      this.problem(node, `"${key}" must be ${wanted}: it is ${shownValue(node.text)}`);
      return undefined;
    }
    return { value, node };
  }
}

/** The text of a field that has been read. */
export function writtenText(node: JsonNode): string {
  return "text" in node ? node.text : "";
}
