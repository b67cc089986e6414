/**
 * One text for all configurations that mean the same: white space and the order of keys change nothing. A configuration
 * that is no JSON is the same only letter by letter.
 */
export function configKey(config: string | undefined): string {
  try {
    return ordered(JSON.parse(config ?? ""));
  } catch {
    return config ?? "";
  }
}

function ordered(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(ordered).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${ordered(member)}`).join(",")}}`;
}
