import { expect, test } from "bun:test";
import { KubeError } from "../client/api.ts";
import { followPause } from "./follow-pause.ts";

const gone = new KubeError("api-refused", "too old", { status: 410, reason: "Expired" });
const cut = new KubeError("api-unreachable", "cut");
const busy = new KubeError("api-refused", "busy", { status: 429, retryAfterMs: 7_000 });
const [alone, oneOfMany] = [{}, { isOneOfMany: true }];
const listed = { lists: 1 };

test("followPause spreads the lists of many over half a minute, when the server has forgotten the places of all", () => {
  expect(followPause(oneOfMany, listed, gone).firstMs).toBe(30_000);
  expect(followPause(oneOfMany, { lists: 0 }, gone).firstMs).toBe(2_000);
  expect(followPause(alone, listed, gone).firstMs).toBe(500);
});

test("followPause lets many come back later than one, and all soon after a watch that ended in its time", () => {
  expect(followPause(oneOfMany, listed, cut).firstMs).toBe(2_000);
  expect(followPause(alone, listed, cut).firstMs).toBe(500);
  expect(followPause(oneOfMany, listed).firstMs).toBe(500);
});

test("followPause keeps the pause that the server asks for", () => {
  expect(followPause(oneOfMany, listed, busy).afterMs).toBe(7_000);
  expect(followPause(alone, listed, busy).afterMs).toBe(7_000);
  expect(followPause(alone, listed, cut).afterMs).toBeUndefined();
});
