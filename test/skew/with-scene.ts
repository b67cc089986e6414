import { afterAll, beforeAll } from "bun:test";
import { Scene } from "./scene.ts";

/** All tests of the file have the scene; it is gone afterwards. */
export function withScene(): void {
  let scene: Scene;
  beforeAll(async () => {
    scene = await Scene.hold();
  });
  afterAll(() => scene[Symbol.asyncDispose]());
}
