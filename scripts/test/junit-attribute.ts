/** The value of one attribute of an element of a JUnit report; empty where it is absent. */
export function attribute(attributes: string, name: string): string {
  return plain(new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "");
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

function plain(text: string): string {
  return text.replaceAll(/&(lt|gt|quot|apos|amp);/g, (whole, name: string) => entities[name] ?? whole);
}
