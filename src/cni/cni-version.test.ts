import { describe, expect, test } from "bun:test";
import { LeveeError } from "../base/errors.ts";
import {
  chooseVersion,
  compareVersions,
  isSupportedVersion,
  prevResultAtDel,
  requireVersion,
  supportedVersions,
  supportsVerb,
} from "./cni-version.ts";

describe("supportedVersions", () => {
  test("are those libcni supports, oldest first", () => {
    expect(supportedVersions).toEqual(["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"]);
    expect([...supportedVersions].toSorted(compareVersions)).toEqual([...supportedVersions]);
    expect(isSupportedVersion("0.9.0")).toBe(false);
  });
});

describe("compareVersions", () => {
  test("compares numbers, not text", () => {
    expect(compareVersions("0.10.0", "0.9.0")).toBeGreaterThan(0);
    expect(compareVersions("1.0.0", "1.0.0")).toBe(0);
    expect(compareVersions("0.3.0", "0.3.1")).toBeLessThan(0);
    expect(compareVersions("2.0.0", "1.9.9")).toBeGreaterThan(0);
  });

  test.each(["", "1.x.0", "-1.0.0", "1..0", "1e1.0.0"])("refuses %j", (version) => {
    expect(() => compareVersions(version, "1.0.0")).toThrow("a CNI version is three numbers");
  });
});

describe("supportsVerb", () => {
  test("knows when CHECK, GC and STATUS came", () => {
    const verbs = ["ADD", "DEL", "VERSION", "CHECK", "GC", "STATUS"];
    const since = verbs.map((verb) => supportedVersions.find((version) => supportsVerb(version, verb)));
    expect(since).toEqual(["0.1.0", "0.1.0", "0.1.0", "0.4.0", "1.1.0", "1.1.0"]);
  });
});

describe("prevResultAtDel", () => {
  test("holds from 0.4.0 on", () => {
    expect(supportedVersions.filter((version) => prevResultAtDel(version))).toEqual(["0.4.0", "1.0.0", "1.1.0"]);
  });
});

describe("requireVersion", () => {
  test("takes the empty version for the oldest", () => {
    expect(requireVersion("", "x")).toBe("0.1.0");
  });

  test.each(["0.9.0", "1.2.0", "1", "latest", " 1.0.0"])("refuses %j and names what we speak", (version) => {
    try {
      requireVersion(version, "network lan");
      throw new Error("accepted");
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(LeveeError);
      expect(thrown).toMatchObject({ code: "version-unsupported", cniCode: 1 });
      expect(String(thrown)).toContain(
        `Cannot use network lan: its cniVersion must be one of 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0: current value is "${version}"`,
      );
    }
  });
});

describe("chooseVersion", () => {
  test.each([
    [["0.4.0", "1.0.0", "0.3.1"], "1.0.0"],
    [["2.0.0", "1.1.0"], "1.1.0"],
    [["1.2.0", "0.4.0", "9.9.9"], "0.4.0"],
    [["0.2.0"], "0.2.0"],
    [[], "0.1.0"],
  ])("takes from %j the newest we speak: %s", (offered, chosen) => {
    expect(String(chooseVersion(offered, "x"))).toBe(chosen);
  });

  test("refuses a list without any we speak", () => {
    expect(() => chooseVersion(["1.2.0", "2.0.0"], "network lan")).toThrow(
      'Cannot use network lan: its cniVersions must name one of 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0: current value is ["1.2.0","2.0.0"]',
    );
    expect(() => chooseVersion(["1.2.0"], "network lan")).toThrow('current value is "1.2.0"');
  });
});
