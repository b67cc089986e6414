import { describe, expect, test } from "bun:test";
import { LeveeError } from "../base/errors.ts";
import { parseCniError } from "./cni-error.ts";
import { supportedVersions } from "./cni-version.ts";
import { asJsonText, jsonString } from "./json-text.ts";
import { parseNetworkConf } from "./network-conf.ts";
import { pluginStdin, withPrevResult } from "./plugin-stdin.ts";
import { parseResult, printResult, withCniVersion } from "./result.ts";
import { parseRequest, type RawRequest } from "./verb.ts";

/** Whatever comes in: a value or an error of the catalogue, never another throw. */

const rounds = 10_000;

function generator(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % bound;
  };
}

const pieces = [
  "",
  ",",
  ":",
  '"',
  "{",
  "}",
  "[",
  "]",
  "null",
  "true",
  "0",
  "-1",
  "1e999",
  "\\",
  "\\u0000",
  "\u0000",
  "é",
  "\ud800",
  '"type"',
  '"plugins":[]',
  '"../x"',
  "__proto__",
];

/** One to three cuts, insertions or doublings at random places. */
function mutate(text: string, next: (bound: number) => number): string {
  let mutated = text;
  for (let edits = next(3) + 1; edits > 0; edits -= 1) {
    const at = next(mutated.length + 1);
    const insertion = next(4) === 0 ? mutated.slice(at, at + next(20)) : (pieces[next(pieces.length)] ?? "");
    mutated = mutated.slice(0, at) + insertion + mutated.slice(at + next(6));
  }
  return mutated;
}

/** Runs `attempt` on mutations of the seeds; returns how many were accepted. */
function storm(seeds: readonly string[], seed: number, attempt: (text: string) => void): number {
  const next = generator(seed);
  let accepted = 0;
  for (let round = 0; round < rounds; round += 1) {
    const text = mutate(seeds[next(seeds.length)] ?? "", next);
    try {
      attempt(text);
      accepted += 1;
    } catch (thrown) {
      if (!(thrown instanceof LeveeError))
        throw new Error(`Wrong kind of error for ${jsonString(text)}`, { cause: thrown });
      if (thrown.code === "internal") throw new Error(`A defect for ${jsonString(text)}`, { cause: thrown });
    }
  }
  return accepted;
}

const confs = [
  '{"cniVersion":"0.4.0","name":"lan","type":"bridge","ipam":{"type":"host-local"},"args":{"cni":{"a":1}},"capabilities":{"ips":true}}',
  '{"name":"lan","cniVersions":["0.4.0","1.0.0"],"disableCheck":"true","plugins":[{"type":"calico","big":9007199254740993},{"type":"portmap","capabilities":{"portMappings":true}}]}',
];

const results = [
  '{"cniVersion":"0.2.0","ip4":{"ip":"10.0.0.2/24","gateway":"10.0.0.1","routes":[{"dst":"0.0.0.0/0"}]},"dns":{"nameservers":["1.1.1.1"]}}',
  '{"cniVersion":"1.1.0","interfaces":[{"name":"eth0","mtu":1500,"sandbox":"/run/netns/a"}],"ips":[{"address":"fd00::2/64","interface":0}],"routes":[{"dst":"::/0","gw":"fd00::1","table":0}]}',
];

describe("mutations", () => {
  test("of a configuration are read or refused", () => {
    const accepted = storm(confs, 1, (text) => {
      const conf = parseNetworkConf(asJsonText(text, "a conf"), { what: "a conf", defaultName: "d" });
      for (const plugin of conf.plugins) {
        const value = asJsonText("[1.0]", "a value");
        const stdin = pluginStdin(plugin, {
          name: conf.name,
          cniVersion: conf.cniVersion,
          runtimeConfig: { ips: value },
          cniArgs: { a: value },
          deviceId: "d",
        });
        const run = asJsonText(withPrevResult(stdin, asJsonText("{}", "a result")), "our own stdin");
        expect(JSON.parse(run)).toMatchObject({
          name: conf.name,
          cniVersion: conf.cniVersion,
          args: { cni: { a: [1] } },
          deviceID: "d",
          prevResult: {},
        });
        expect(plugin.type.includes("/")).toBe(false);
      }
    });
    expect(accepted).toBeGreaterThan(500);
    expect(accepted).toBeLessThan(rounds - 500);
  });

  test("of a result are read, or refused; what is read can be printed in every version", () => {
    const accepted = storm(results, 2, (text) => {
      const result = parseResult(withCniVersion(asJsonText(text, "a result"), "1.0.0"), "1.0.0");
      for (const version of supportedVersions) {
        const printed = asJsonText(printResult(result, version), "our own result");
        expect(parseResult(printed, "").cniVersion).toBe(version);
      }
    });
    expect(accepted).toBeGreaterThan(300);
    expect(accepted).toBeLessThan(rounds - 500);
  });

  test("of a plugin's error are read or taken for none", () => {
    const next = generator(3);
    for (let round = 0; round < rounds; round += 1) {
      const error = parseCniError(mutate('{"code":7,"msg":"a","details":"b"}', next));
      if (error !== undefined) expect(Number.isInteger(error.code)).toBe(true);
    }
  });

  test("of a call are read or refused, and no path gets out", () => {
    const fields: (keyof RawRequest)[] = ["verb", "containerId", "netns", "ifname", "cniArgs", "cniPath"];
    const good: RawRequest = {
      verb: "ADD",
      containerId: "c0ffee",
      netns: "/run/netns/a",
      ifname: "eth0",
      cniArgs: "A=1;B=2",
      cniPath: "/opt/cni/bin",
    };
    const next = generator(4);
    const accepted = storm(fields, 5, () => {
      const field = fields[next(fields.length)] ?? "verb";
      const request = parseRequest({ ...good, [field]: mutate(good[field], next) });
      if (request.verb !== "ADD") return;
      expect(`${request.containerId}${request.ifname}`).not.toContain("/");
      expect(request.netns.split("/")).not.toContain("..");
    });
    expect(accepted).toBeGreaterThan(500);
  });
});
