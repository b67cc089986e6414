/** The text of a plugin's element in a list of plugins, as it stands there. */
export function pluginText(list: string, type: string): string {
  const at = list.lastIndexOf("{", list.indexOf(`"type": "${type}"`));
  let depth = 0;
  for (let end = at; end < list.length; end += 1) {
    if (list[end] === "{") depth += 1;
    if (list[end] === "}") depth -= 1;
    if (depth === 0) return list.slice(at, end + 1);
  }
  throw new Error(`There is no plugin ${type} in ${list}`);
}

/** The same text with the network's own members behind the others, which is all that a runtime adds. */
export function withMembers(text: string, members: Readonly<Record<string, string>>): string {
  const added = Object.entries(members).map(([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`);
  return text.replace(/\s*\}$/u, (end) => `${added.join("")}${end}`);
}
