import { test } from "bun:test";
import { confChangesInStorm } from "../conf-change/conf-change-flow.ts";
import { theInstalled } from "../installed/the-installed.ts";

test("a conf changes while pods are in line: the node stays ready, and all pods get their networks", async () => {
  await confChangesInStorm(await theInstalled());
});
