/** Hardware addresses as Go's `net.ParseMAC` takes them: 6, 8 or 20 bytes, in pairs by ':' or '-' or in fours by '.'. */
export function isMacAddress(text: string): boolean {
  return isGrouped(text, ":", 2) || isGrouped(text, "-", 2) || isGrouped(text, ".", 4);
}

const bytesAllowed: ReadonlySet<number> = new Set([6, 8, 20]);

function isGrouped(text: string, separator: string, digits: 2 | 4): boolean {
  const groups = text.split(separator);
  const isHex = groups.every((group) => group.length === digits && /^[0-9a-fA-F]+$/.test(group));
  return isHex && bytesAllowed.has((groups.length * digits) / 2);
}
