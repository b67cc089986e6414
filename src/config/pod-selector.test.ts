import { describe, expect, test } from "bun:test";
import { isSelected, parsePodSelector, type PodSelector } from "./pod-selector.ts";

function parsed(...texts: readonly string[]): readonly PodSelector[] {
  return texts.map((text) => {
    const selector = parsePodSelector(text);
    if (selector === undefined) throw new Error(`${text} is no selector`);
    return selector;
  });
}

describe("parsePodSelector", () => {
  test("takes a namespace, with or without labels", () => {
    expect(parsePodSelector("traefik")).toEqual({ namespace: "traefik", labels: [] });
    expect(parsePodSelector("db/app.kubernetes.io/name=pg,role=")).toEqual({
      namespace: "db",
      labels: [
        ["app.kubernetes.io/name", "pg"],
        ["role", ""],
      ],
    });
  });

  test.each([
    "",
    "/app=x",
    "app=x",
    "*",
    "Traefik",
    "-a",
    "db/",
    "db/app",
    "db/app=x,",
    "db/=x",
    "db/app==x",
    "db/app!=x",
    "db/app in (x)",
    "db/a b=x",
    `${"n".repeat(64)}`,
  ])("refuses %j", (text) => {
    expect(parsePodSelector(text)).toBeUndefined();
  });
});

test("isSelected needs the namespace and every label of one selector", () => {
  const selectors = parsed("traefik", "db/app=pg,role=main");
  expect(isSelected(selectors, "traefik", {})).toBe(true);
  expect(isSelected(selectors, "db", { app: "pg", role: "main", more: "x" })).toBe(true);
  expect(isSelected(selectors, "db", { app: "pg" })).toBe(false);
  // A tenant's pod with the very labels, in a namespace that no selector names.
  expect(isSelected(selectors, "tenant", { app: "pg", role: "main" })).toBe(false);
  expect(isSelected([], "traefik", {})).toBe(false);
});
