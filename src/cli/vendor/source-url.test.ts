import { describe, expect, test } from "bun:test";
import { redirectedUrl, sourceUrl } from "./source-url.ts";

describe("sourceUrl", () => {
  test.each([
    "https://example.com/a.yaml",
    "https://example.com/a.yaml?ref=v1",
    "http://127.0.0.1:8080/a.yaml",
    "http://localhost/a.yaml",
    `http://${"[::1]"}/a.yaml`,
  ])("takes %s", (text) => {
    expect(sourceUrl(text).href).toBe(text);
  });

  test.each([
    ["http://example.com/a.yaml", "without TLS anybody on the way can change the file"],
    ["http://127.0.0.1.example/a.yaml", "without TLS"],
    ["http://localhost.example/a.yaml", "without TLS"],
    ["ftp://example.com/a.yaml", "it is not https://"],
    ["file:///etc/passwd", "it is not https://"],
    ["apps/cdi/a.yaml", "it is no URL"],
    ["https://example.com/a.yaml#L10", "it has a # part"],
  ])("refuses %s", (text, why) => {
    expect(() => sourceUrl(text)).toThrow(why);
  });

  test("does not repeat a password", () => {
    expect(() => sourceUrl(`https://${"me:hunter2"}@example.com/a.yaml`)).toThrow(
      `Cannot fetch https://${"…"}@example.com/a.yaml: it has a user name or a password`,
    );
  });
});

describe("redirectedUrl", () => {
  const from = new URL("https://example.com/v1/a.yaml");

  test("follows to another host and to another path", () => {
    expect(redirectedUrl(from, "https://files.example/x").href).toBe("https://files.example/x");
    expect(redirectedUrl(from, "../v2/a.yaml").href).toBe("https://example.com/v2/a.yaml");
  });

  test.each([
    ["http://example.com/v1/a.yaml", "away from TLS, to http://example.com"],
    ["https://127.0.0.1/a.yaml", "to this machine itself"],
    ["http://localhost:2375/a.yaml", "to this machine itself"],
    ["https://", "to something that is no URL"],
    [`https://${"a:b"}@example.com/`, "it has a user name or a password"],
  ])("does not follow to %s", (location, why) => {
    expect(() => redirectedUrl(from, location)).toThrow(why);
  });
});
