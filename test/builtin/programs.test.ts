import { test } from "bun:test";
import { distributionPlugins } from "../lab/lab.ts";
import { compareBatch } from "./batch.ts";
import { judge } from "./judge.ts";
import { builtInPlugins, isPossible } from "./plugins.ts";

/** Few here, for time; `npm run e2e -- --full builtin` has 200 of each plugin. */
const turns = 4;

for (const [name, make] of builtInPlugins)
  test(`the built-in ${name} says and leaves the same as Debian's program`, async () => {
    judge(await compareBatch({ version: "1.1.1", folder: distributionPlugins }, make, turns), isPossible(name));
  });
