import { expect, test } from "bun:test";
import { GcRota } from "./rota.ts";

const networks = ["a", "b", "c"].map((key) => ({ key }));

test("order starts where the last round stopped, once, and from the beginning when that is not there any more", () => {
  const rota = new GcRota();
  const keys = (): readonly string[] => rota.order(networks).map(({ key }) => key);
  expect(keys()).toEqual(["a", "b", "c"]);
  rota.stopBefore("c");
  expect(keys()).toEqual(["c", "a", "b"]);
  expect(keys()).toEqual(["a", "b", "c"]);
  rota.stopBefore("gone");
  expect(keys()).toEqual(["a", "b", "c"]);
});
