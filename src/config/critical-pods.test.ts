import { describe, expect, test } from "bun:test";
import { parseDaemonConfig } from "./daemon-config.ts";
import { ConfigError } from "./problem.ts";

function problems(criticalPods: unknown): readonly string[] {
  try {
    parseDaemonConfig(JSON.stringify({ criticalPods }), "x.json");
    return [];
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown;
    return thrown.problems.map(({ key, seen, remedy }) => `${key} is ${seen}: ${remedy}`);
  }
}

describe("criticalPods", () => {
  test("is empty unless set, and knows namespaces and labels in them", () => {
    expect(parseDaemonConfig("{}", "x.json").criticalPods).toEqual([]);
    const config = parseDaemonConfig('{"criticalPods": ["traefik", "db/app=pg"]}', "x.json");
    expect(config.criticalPods).toEqual([
      { namespace: "traefik", labels: [] },
      { namespace: "db", labels: [["app", "pg"]] },
    ]);
    expect(config.notices).toEqual([]);
    // No other effect of systemNamespaces.
    expect(config.systemNamespaces.map(String)).toEqual(["kube-system"]);
  });

  test("names every wrong entry by its place", () => {
    expect(problems(["traefik", "app=pg", "*"])).toEqual([
      'criticalPods[1] is "app=pg": set the name of a namespace, or NAMESPACE/KEY=VALUE[,KEY=VALUE…] for its pods with these labels',
      'criticalPods[2] is "*": set the name of a namespace, or NAMESPACE/KEY=VALUE[,KEY=VALUE…] for its pods with these labels',
    ]);
    expect(problems("traefik")[0]).toContain('criticalPods is "traefik": set a list');
    expect(problems([7])[0]).toContain("criticalPods[0] is 7: set a list of strings");
    expect(problems(Array.from({ length: 65 }, () => "a"))[0]).toContain("set at most 64 entries");
  });
});
