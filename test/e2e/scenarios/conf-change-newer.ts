import { test } from "bun:test";
import { confChangesInStorm } from "../conf-change/conf-change-flow.ts";
import { theScene } from "../the-levee.ts";

test("a conf changes while pods are in line, with a newer containerd", async () => {
  await confChangesInStorm(await theScene());
});
