import { expect, test } from "bun:test";
import { differences } from "./verify-release.ts";

function line(digit: string, path: string): string {
  return `${digit.repeat(64)}  ${path}\n`;
}

test("differences names files that are not alike, or only in one release", () => {
  const first = line("a", "install.yaml") + line("b", "levee-0.1.0.tgz");
  expect(differences(first, first)).toEqual([]);
  expect(differences(first, line("a", "install.yaml") + line("c", "levee-0.1.0.tgz"))).toEqual(["levee-0.1.0.tgz"]);
  expect(differences(first, line("a", "install.yaml") + line("a", "more"))).toEqual(["levee-0.1.0.tgz", "more"]);
});
