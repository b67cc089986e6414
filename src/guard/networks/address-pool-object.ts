import { objectOf, textOf } from "../../kube/client/json-fields.ts";
import { addressBlock, addressText, type AddressRange } from "../../lint/addresses/address-range.ts";

/** An IPPool of whereabouts: who has it, and which addresses of its range containers hold. */
export interface AddressPoolObject {
  /** whereabouts keeps its objects in one namespace. */
  readonly namespace: string;
  /** The network name, the node, or both with a dash between them; empty for the unnamed network of all nodes. */
  readonly owner: string;
  readonly subnet: AddressRange;
  readonly taken: readonly bigint[];
}

/** The API server takes no larger object; each allocation has at least ten bytes. */
const takenMax = 150_000;
/** whereabouts ignores a key that is not a number of 64 bits. */
const offsetPattern = /^\d{1,19}$/u;

/** Undefined for an object that whereabouts did not write, or could not read. */
export function parsePoolObject(value: unknown): AddressPoolObject | undefined {
  const metadata = objectOf(objectOf(value)["metadata"]);
  const spec = objectOf(objectOf(value)["spec"]);
  const [name, range] = [textOf(metadata["name"]), textOf(spec["range"])];
  const block = addressBlock(range);
  const owner = ownerOf(name, range);
  if (block === undefined || owner === undefined) return undefined;
  const taken = Object.keys(objectOf(spec["allocations"]))
    .filter((offset) => offsetPattern.test(offset))
    .slice(0, takenMax)
    // Older releases write the range as the configuration has it, and count from the address in front of the slash.
    .map((offset) => block.address.value + BigInt(offset));
  return { namespace: textOf(metadata["namespace"]), owner, subnet: block.range, taken };
}

interface HeldAddress {
  readonly containerId: string;
  readonly address: string;
}

/** The addresses of an IPPool that these containers hold. */
export function heldBy(value: unknown, containerIds: ReadonlySet<string>): readonly HeldAddress[] {
  const spec = objectOf(objectOf(value)["spec"]);
  const block = addressBlock(textOf(spec["range"]));
  if (block === undefined) return [];
  const { family, value: start } = block.address;
  return Object.entries(objectOf(spec["allocations"])).flatMap(([offset, allocation]) => {
    const containerId = textOf(objectOf(allocation)["id"]);
    if (!containerIds.has(containerId) || !offsetPattern.test(offset)) return [];
    return [{ containerId, address: addressText({ family, value: start + BigInt(offset) }) }];
  });
}

/** What is in front of the range in the object's name, in which colons and the slash are dashes. */
function ownerOf(name: string, range: string): string | undefined {
  const suffix = range.replaceAll(/[:/]/gu, "-");
  if (name === suffix) return "";
  return name.endsWith(`-${suffix}`) ? name.slice(0, -suffix.length - 1) : undefined;
}
