/** How values look after a program in Go has read them into its types and printed them again. */

/** The same but for members that are empty or 0, unknown ones, letters of keys and spellings of addresses. */
export function isReprintOf(theirs: unknown, ours: unknown): boolean {
  return Bun.deepEquals(reprinted(theirs), reprinted(ours));
}

/** Results before 1.0.0 have no MTU of an interface, so it does not count here; network-status shows it. */
const known = new Set([
  ...["cniversion", "interfaces", "ips", "routes", "dns", "name", "mac", "sandbox", "address", "gateway"],
  ...["interface", "dst", "gw", "nameservers", "domain", "search", "options"],
  ...["hostport", "containerport", "protocol", "hostip", "ingressrate", "ingressburst", "egressrate", "egressburst"],
]);

function reprinted(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => reprinted(item) ?? {});
  if (typeof value === "string") return value === "" ? undefined : address(value);
  if (typeof value !== "object" || value === null) return value === null || value === 0 ? undefined : value;
  const members = Object.entries(value)
    .map(([key, member]): [string, unknown] => [key.toLowerCase(), reprinted(member)])
    .filter(([key, member]) => known.has(key) && member !== undefined);
  return members.length === 0 ? undefined : Object.fromEntries(members.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** An IPv6 address in lower case and without needless zeros, or the IPv4 address that it stands for. */
function address(text: string): string {
  const [ip = "", prefix] = text.split("/");
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/iu.exec(ip) ?? [];
  if (mapped !== undefined) return prefix === undefined ? mapped : `${mapped}/${Number(prefix) - 96}`;
  if (!/^[0-9a-f:]+:[0-9a-f:.]*$/iu.test(ip) || !URL.canParse(`http://[${ip}]`)) return text;
  const host = new URL(`http://[${ip}]`).hostname.slice(1, -1);
  return prefix === undefined ? host : `${host}/${prefix}`;
}
