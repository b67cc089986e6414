import { test } from "bun:test";
import { confChangesInStorm } from "../conf-change/conf-change-flow.ts";
import { theInstalled } from "../installed/the-installed.ts";

test("a conf changes while pods are in line, with a newer containerd", async () => {
  await confChangesInStorm(await theInstalled());
});
