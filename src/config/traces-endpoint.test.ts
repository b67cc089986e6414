import { describe, expect, test } from "bun:test";
import { parseDaemonConfig, type DaemonConfig } from "./daemon-config.ts";
import { ConfigError } from "./problem.ts";

const loopback6 = "[::1]";

function configOf(settings: Readonly<Record<string, unknown>>): DaemonConfig {
  return parseDaemonConfig(JSON.stringify(settings), "/etc/levee.json");
}

function problemOf(settings: Readonly<Record<string, unknown>>): string {
  try {
    configOf(settings);
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown.page;
  }
  return "";
}

describe("tracesEndpoint", () => {
  test("is off unless set", () => {
    expect(configOf({}).tracesEndpoint).toBeUndefined();
    expect(configOf({ tracesEndpoint: "" }).tracesEndpoint).toBeUndefined();
    expect(configOf({}).tracesOneIn).toBe(100);
  });

  test.each([
    ["http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"],
    [`http://${loopback6}:4318/`, `http://${loopback6}:4318/v1/traces`],
    ["https://otel.example/ingest/v1/traces", "https://otel.example/ingest/v1/traces"],
  ])("%s is %s", (given, used) => {
    expect(configOf({ tracesEndpoint: given }).tracesEndpoint).toBe(used);
  });

  test.each([
    "127.0.0.1:4318",
    "localhost:4318",
    "grpc://collector:4317",
    "http://",
    `http://${"user:secret"}@collector.example:4318/`,
    "http://collector.example:4318/?key=secret",
    "http://collector.example:4318/#x",
    "http://collector.example:99999/",
    `http://collector.example/${"x".repeat(600)}`,
    4318,
    { url: "http://127.0.0.1:4318" },
  ])("%j is refused by key, value and remedy", (given) => {
    const page = problemOf({ tracesEndpoint: given });
    expect(page).toContain("tracesEndpoint");
    expect(page).toContain(JSON.stringify(given).slice(0, 12));
    expect(page).toMatch(/set (the URL of a receiver of OTLP over HTTP|a string)/u);
  });

  test("on the port of OTLP over gRPC is worth a word", () => {
    expect(configOf({ tracesEndpoint: "http://collector.example:4317" }).notices.join()).toContain(
      "usually to port 4318",
    );
  });

  test.each([-1, 1.5, "10", 1_000_001])("tracesOneIn of %j is refused", (given) => {
    expect(problemOf({ tracesOneIn: given })).toContain("set a whole number from 0 to 1000000");
  });
});
