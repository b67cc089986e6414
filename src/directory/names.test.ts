import { describe, expect, test } from "bun:test";
import { isNamespace, isObjectName, isPodName, isPodUid } from "./names.ts";

describe("isNamespace", () => {
  test.each(["a", "kube-system", "0", "a1-b2", "x".repeat(63)])("takes %j", (name) =>
    expect(isNamespace(name)).toBe(true),
  );
  test.each(["", "a.b", "-a", "a-", "A", "a_b", "a/b", "..", "a\n", "x".repeat(64), "é"])("refuses %j", (name) =>
    expect(isNamespace(name)).toBe(false),
  );
});

describe("isObjectName", () => {
  test.each(["a", "web-0", "a.b.c", "0.1", `${"a.".repeat(126)}a`])("takes %j", (name) => {
    expect(isObjectName(name)).toBe(true);
    expect(isPodName(name)).toBe(true);
  });
  test.each(["", ".", "..", "a..b", ".a", "a.", "a/../b", "a.-b", "a\0", "a;b=c", "a b", `${"a.".repeat(126)}ab`])(
    "refuses %j",
    (name) => {
      expect(isObjectName(name)).toBe(false);
      expect(isPodName(name)).toBe(false);
    },
  );
});

describe("isPodUid", () => {
  test.each(["1", "11111111-2222-3333-4444-555555555555", "0123456789abcdef", "Mixed_Case.1"])("takes %j", (uid) =>
    expect(isPodUid(uid)).toBe(true),
  );
  test.each(["", "a;b", "a=b", "a/b", "-a", "a-", "a b", "x".repeat(129)])("refuses %j", (uid) =>
    expect(isPodUid(uid)).toBe(false),
  );
});
