/** `10.0.0.2` of `10.0.0.2/24`: in a sentence the network's size is noise. */
export function withoutPrefix(address: string): string {
  return address.split("/", 1)[0] ?? address;
}
