import { describe, expect, test } from "bun:test";
import type { IfName } from "../../base/brand.ts";
import { LeveeError } from "../../base/errors.ts";
import type { AttachmentRecord } from "./attachment-record.ts";
import { parseShape } from "../files/json-shape.ts";
import { recordFromJson, recordToJson } from "./record-json.ts";
import { aChain, aRecord, json } from "./record.fixture.ts";

type Tree = { [key: string]: unknown } | unknown[];

function roundTrip(record: AttachmentRecord): AttachmentRecord {
  return recordFromJson(parseShape(JSON.stringify(recordToJson(record)), "a record"));
}

/** Every place in a tree of plain values. */
function* places(tree: Tree): Generator<{ holder: Tree; key: string }> {
  for (const [key, child] of Object.entries(tree)) {
    yield { holder: tree, key };
    if (typeof child === "object" && child !== null) yield* places(child as Tree);
  }
}

const full = aRecord(1, {
  chains: [
    aChain(),
    aChain({
      multus: {
        ...aChain().multus,
        isList: true,
        request: { ifname: "a", infinibandGuid: "b", defaultRoute: [], deviceId: "d", resourceName: "r" },
      },
    }),
  ],
  steps: new Map([
    [4, { step: 4, result: json("[1.0]") }],
    [7, { step: 7, result: undefined }],
  ]),
  results: [json('{"a":1}'), undefined],
  failure: { code: "delegate-failed", cniCode: 104, message: "m", details: "d" },
  phase: "undoing",
  delAttempts: 3,
  plug: {
    hand: { pid: 1, pidStart: 2, pidNamespace: 3 },
    leaving: ["net1" as IfName],
    joining: [aChain()],
    steps: new Map([[2, { step: 2, result: json("{}") }]]),
  },
});

describe("recordFromJson", () => {
  test("gives back every field", () => {
    expect(roundTrip(full)).toEqual(full);
    const bare = aRecord(2, {
      hand: undefined,
      chains: [],
      netns: { path: "", identity: undefined },
      origin: "multus",
    });
    expect(roundTrip(bare)).toEqual(bare);
  });

  test("text with every kind of character comes back as it was", () => {
    const text =
      Array.from({ length: 0x300 }, (_, code) => String.fromCharCode(code)).join("") + "\u2028\u2029\ud800\udfff😀";
    const record = aRecord(1, {
      chains: [aChain({ confName: text, cniArgs: text, links: [{ ...aChain().links[0]!, stdin: json(text) }] })],
    });
    expect(roundTrip(record)).toEqual(record);
  });

  test("another kind of value in any place is refused with an error that names the place", () => {
    const count = [...places(recordToJson(full) as Tree)].length;
    let refused = 0;
    for (let index = 0; index < count; index += 1) {
      for (const wrong of [null, 1.5, -1, true, "", [], {}, undefined]) {
        const tree = JSON.parse(JSON.stringify(recordToJson(full))) as Tree;
        const place = [...places(tree)][index];
        if (place === undefined) continue;
        (place.holder as Record<string, unknown>)[place.key] = wrong;
        try {
          recordFromJson(parseShape(JSON.stringify(tree), "a record"));
        } catch (error) {
          expect(error).toBeInstanceOf(LeveeError);
          expect(error).toMatchObject({ code: "decode-failed" });
          refused += 1;
        }
      }
    }
    expect(refused).toBeGreaterThan(count * 4);
  });

  test("numbers that JSON cannot hold are refused as numbers and kept as text", () => {
    const tree = JSON.parse(JSON.stringify(recordToJson(full))) as { netns: { identity: Record<string, unknown> } };
    for (const wrong of [4, "0x4", "-1", "", "123456789012345678901"]) {
      tree.netns.identity["inode"] = wrong;
      expect(() => recordFromJson(parseShape(JSON.stringify(tree), "a record"))).toThrow("inode");
    }
  });
});
