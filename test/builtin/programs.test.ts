import { expect, test } from "bun:test";
import { distributionPlugins } from "../lab/lab.ts";
import { compareBatch } from "./batch.ts";
import { builtInPlugins } from "./plugins.ts";

/** Few here, for time; `npm run e2e -- builtin` has 200 of each plugin. */
const turns = 8;

for (const [name, make] of builtInPlugins)
  test(`the built-in ${name} says and leaves the same as Debian's program`, async () => {
    const batch = await compareBatch({ version: "1.1.1", folder: distributionPlugins }, make, turns);
    expect(batch.faults.join("\n\n")).toBe("");
    expect(batch.served).toBeGreaterThan(batch.left);
    expect(batch.good).toBeGreaterThan(0);
  });
