import { describe, expect, test } from "bun:test";
import { confFacts } from "./conf-facts.ts";

describe("confFacts", () => {
  const settings = { socketDir: "/run/x", stateDir: "/var/x" };

  test("takes socket and budget from the configuration", () => {
    expect(confFacts('{"daemonSocketDir":"/run/y","stateDir":"/var/y","addBudgetMs":7000}', settings)).toEqual({
      socket: "/run/y/levee.sock",
      stateDir: "/var/y",
      addBudgetMs: 7000,
    });
  });

  test.each(["", "no json", "null", "[]", "{}", '{"daemonSocketDir":"","addBudgetMs":"1"}', '{"daemonSocketDir":1}'])(
    "falls back to the settings for %j",
    (conf) => {
      expect(confFacts(conf, settings)).toEqual({
        socket: "/run/x/levee.sock",
        stateDir: "/var/x",
        addBudgetMs: 110_000,
      });
    },
  );
});
