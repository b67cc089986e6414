import { expect, test } from "bun:test";
import type { Images } from "./made-images.ts";
import { differences } from "./verify-images.ts";

function images(amd64: string, arm64: string): Images {
  const platforms = { "linux/amd64": amd64, "linux/arm64": arm64 };
  return { version: "1", images: [{ name: "levee", archive: "levee.oci.tar", digest: `${amd64}${arm64}`, platforms }] };
}

test("differences names the platforms that are not the same", () => {
  expect(differences(images("a", "b"), images("a", "b"))).toEqual([]);
  expect(differences(images("a", "b"), images("a", "c"))).toEqual(["levee for linux/arm64: b and c"]);
  expect(differences(images("a", "b"), { version: "1", images: [] })).toHaveLength(2);
});
