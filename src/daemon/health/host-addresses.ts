export interface InterfaceAddress {
  readonly ifname: string;
  readonly text: string;
}

/** The addresses of the daemon's own namespace, which is the host's. Late, as only networks with ranges need it. */
export async function interfaceAddresses(): Promise<readonly InterfaceAddress[]> {
  const { networkInterfaces } = await import("node:os");
  return Object.entries(networkInterfaces()).flatMap(([label, addresses = []]) =>
    addresses
      .filter(({ address, internal }) => !internal && !linkLocal.test(address))
      // An IPv4 address may have a label, eth0:1.
      .map(({ address }) => ({ ifname: label.split(":", 1)[0] ?? label, text: address })),
  );
}

/** Every veth has one, and no network gives them. */
const linkLocal = /^fe[89ab]/iu;

/**
 * Whether a configuration could give one of these addresses, by its text alone: hardly a node has such a network, and
 * what reads ranges is not loaded on the others.
 */
export function couldGive(addresses: readonly InterfaceAddress[]): (config: string) => boolean {
  if (addresses.length === 0) return () => false;
  const starts = addresses.map(({ text }) => startOf(text));
  const pattern = new RegExp([...new Set(starts), wideOrEscaped].join("|"), "iu");
  return (config) => pattern.test(config);
}

/** What each range of at least 16 bits that has the address begins with. */
function startOf(address: string): string {
  if (!address.includes(":")) return String.raw`\b${address.split(".", 2).join(String.raw`\.`)}\.`;
  return String.raw`\b0*${address.split(":", 1)[0] ?? ""}:`;
}

/** A range of fewer bits, which no default route is, or letters that JSON need not write so. */
const wideOrEscaped = String.raw`(?<!\b0\.0\.0\.0|[^0-9a-f]::)/(?:[0-9]|1[0-5])(?![0-9])|\\u`;
