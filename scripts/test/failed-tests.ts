/** The failed tests of a JUnit report as `bun test` writes it, in the report's order. */
export interface FailedTest {
  readonly file: string;
  /** The outermost group it stands in, which Bun names last; empty where it stands in none. */
  readonly group: string;
  readonly name: string;
}

export function failedTests(report: string): readonly FailedTest[] {
  const failedCase = /<testcase\b([^>]*[^/])>\s*<(?:failure|error)\b/g;
  return [...report.matchAll(failedCase)].map(([, attributes = ""]) => ({
    file: attribute(attributes, "file"),
    group: attribute(attributes, "classname").split(" > ").at(-1) ?? "",
    name: attribute(attributes, "name"),
  }));
}

export function testTitle({ file, group, name }: FailedTest): string {
  return [file, group, name].filter((part) => part !== "").join(" > ");
}

function attribute(attributes: string, name: string): string {
  return plain(new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "");
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

function plain(text: string): string {
  return text.replaceAll(/&(lt|gt|quot|apos|amp);/g, (whole, name: string) => entities[name] ?? whole);
}
