import { expect, test } from "bun:test";
import { GcRota } from "./networks-for-gc.ts";

const networks = ["a", "b", "c"].map((key) => ({ key }));

test("order starts once where the last round stopped, or at the beginning when that network is gone", () => {
  const rota = new GcRota();
  const keys = (): readonly string[] => rota.order(networks).map(({ key }) => key);
  expect(keys()).toEqual(["a", "b", "c"]);
  rota.stopBefore("c");
  expect(keys()).toEqual(["c", "a", "b"]);
  expect(keys()).toEqual(["a", "b", "c"]);
  rota.stopBefore("gone");
  expect(keys()).toEqual(["a", "b", "c"]);
});
