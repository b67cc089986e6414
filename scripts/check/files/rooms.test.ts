import { expect, test } from "bun:test";
import { problemsIn } from "../planted.ts";
import { rooms } from "./rooms.ts";

function files(folder: string, count: number, ending: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_unused, index) => [`${folder}/f${index}${ending}`, ""]));
}

test("rooms refuses a folder with more than 25 source files", async () => {
  const texts = { ...files("src/daemon", 26, ".ts"), ...files("shim/src", 27, ".rs"), ...files("test/lab", 26, ".ts") };
  expect(await problemsIn(rooms, texts)).toEqual([
    "shim/src:0 27 source files, at most 25 are allowed",
    "src/daemon:0 26 source files, at most 25 are allowed",
    "test/lab:0 26 source files, at most 25 are allowed",
  ]);
});

test("rooms counts neither tests and fixtures, nor what is in folders below, nor other files", async () => {
  const texts = {
    ...files("src/daemon", 25, ".ts"),
    ...files("src/daemon", 25, ".test.ts"),
    ...files("src/daemon", 25, ".fixture.ts"),
    ...files("src/daemon/serve", 25, ".ts"),
    ...files("docs", 40, ".md"),
  };
  expect(await problemsIn(rooms, texts)).toEqual([]);
});
