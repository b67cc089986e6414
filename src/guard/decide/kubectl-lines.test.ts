import { expect, test } from "bun:test";
import { kubectl, rolloutRestartLine } from "./kubectl-lines.ts";

test("kubectl quotes what a shell would not take literally", () => {
  expect(kubectl("-n", "a b", "get", "pod", "it's")).toBe(`kubectl -n 'a b' get pod 'it'\\''s'`);
});

for (const words of [
  ["-n", "-A", "get", "pods"],
  ["get", "appproject", "--kubeconfig=/x"],
  ["get", "appproject", "-x"],
  ["-n", "argocd", "get", "appproject", "-o", "-o"],
  ["-n", ""],
]) {
  test(`kubectl refuses ${JSON.stringify(words)}, where a value would be read as an option`, () => {
    expect(() => kubectl(...words)).toThrow(RangeError);
  });
}

test("rolloutRestartLine shows the pods of an owner with an invalid kind or name", () => {
  for (const [kind, name] of [
    ["Job", "--all"],
    ["-A", "x"],
    ["", "x"],
    ["Deployment", "a\nb"],
  ] as const)
    expect(rolloutRestartLine(kind, "shop", name)).toBe("kubectl -n shop get pods -o wide");
});
