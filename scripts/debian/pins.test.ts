import { describe, expect, test } from "bun:test";
import { architectures, parsePins, printPins, readPins, setNames, type Pin } from "./pins.ts";

const hash = "a".repeat(64);
const empty = { amd64: {}, arm64: {} };
const good = { "date": "2026-11-16", "base": empty, "guard": empty, "shim-host": empty, "shim-target": empty };

function parsed(change: object): () => unknown {
  return () => parsePins(JSON.stringify({ ...good, ...change }));
}

describe("parsePins", () => {
  test("reads what printPins writes, sorted by name", () => {
    const pin = (name: string): Pin => ({ name, architecture: "amd64", version: "1:2-3+b1", sha256: hash });
    const none = { amd64: [], arm64: [] };
    const base = { amd64: [pin("zlib1g"), pin("libc6")], arm64: [] };
    const text = printPins("2026-01-02", { base, "guard": none, "shim-host": none, "shim-target": none });
    expect(text.indexOf("libc6")).toBeLessThan(text.indexOf("zlib1g"));
    const pins = parsePins(text);
    expect(pins.date).toBe("2026-01-02");
    expect(pins.of("base", "amd64")).toEqual([pin("libc6"), pin("zlib1g")]);
    expect(pins.of("guard", "arm64")).toEqual([]);
  });

  test("says what is wrong and where", () => {
    expect(() => parsePins("{")).toThrow("Cannot read deploy/image/packages.json");
    expect(parsed({ date: "today" })).toThrow('date must be a day like 2026-11-16: current value is "today"');
    expect(parsed({ guard: undefined })).toThrow("guard must be an object: current value is missing");
    expect(parsed({ base: { amd64: [], arm64: {} } })).toThrow("base.amd64 must be an object: current value is []");
    expect(parsed({ base: { amd64: { libc6: "2.36" }, arm64: {} } })).toThrow(
      'base.amd64.libc6 must be "VERSION sha256:HASH": current value is "2.36"; npm run image -- --bump',
    );
    expect(parsed({ base: { amd64: { "../x": `1 sha256:${hash}` }, arm64: {} } })).toThrow("base.amd64.../x");
  });
});

test("readPins finds the same packages for both architectures", () => {
  const pins = readPins();
  for (const set of setNames.filter((name) => name !== "shim-host")) {
    const [first = [], second = []] = architectures.map((each) => pins.of(set, each).map(({ name }) => name));
    expect(first.length).toBeGreaterThan(0);
    expect(first).toEqual(second);
  }
});
