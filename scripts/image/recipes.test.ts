import { expect, test } from "bun:test";
import { daemonEnv } from "../../src/config/daemon-env.ts";
import { recipes } from "./recipes.ts";

test("recipes set the engine as the code does, in every image", () => {
  expect(recipes).toHaveLength(2);
  for (const { start } of recipes) {
    const engine = start.env.filter((setting) => setting.startsWith("BUN_"));
    expect(engine).toEqual(Object.entries(daemonEnv).map((pair) => pair.join("=")));
    expect(start.entrypoint).toEqual(["/usr/local/bin/levee"]);
  }
});

test("the daemon's image runs as root, the guard's as the user of its manifest", () => {
  expect(recipes.map(({ name, start }) => [name, start.user])).toEqual([
    ["levee", "0:0"],
    ["levee-guard", "65532:65532"],
  ]);
});
