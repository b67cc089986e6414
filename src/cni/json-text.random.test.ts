import { describe, expect, test } from "bun:test";
import type { JsonText } from "../base/brand.ts";
import { foldKey, isSameKey } from "./fold-key.ts";
import {
  arrayElements,
  asJsonText,
  exactMember,
  jsonString,
  memberText,
  removeMember,
  scanObject,
  setMember,
  valueOf,
} from "./json-text.ts";

/** Seeded, so that a failure can be repeated (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Makes JSON texts with odd white space, escapes, duplicate keys and numbers that a printer would change. */
class Author {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[Math.floor(this.#random() * items.length)] ?? items[0];
  }

  space(): string {
    return this.pick(["", "", "", " ", "\n", "\t", "\r\n", "  \n "]);
  }

  key(): string {
    return this.pick([
      '"a"',
      '"b"',
      '"\\u0061"',
      '"name"',
      '"Name"',
      '"na\\u006de"',
      '""',
      '"é"',
      '"\\"\\\\"',
      '"__proto__"',
      '"x,y:z}"',
    ]);
  }

  scalar(): string {
    return this.pick([
      "0",
      "-0",
      "1500.0",
      "9007199254740993",
      "1e2",
      "-1.5E-7",
      "true",
      "false",
      "null",
      '"s"',
      '"\\ud83d\\ude00{["',
      '"a\\/b"',
      '"]}"',
    ]);
  }

  value(depth: number): string {
    const kind = depth > 3 ? "scalar" : this.pick(["scalar", "scalar", "object", "array"]);
    if (kind === "scalar") return this.scalar();
    return kind === "object" ? this.object(depth + 1) : this.list("[", "]", () => this.value(depth + 1));
  }

  object(depth: number): string {
    return this.list("{", "}", () => `${this.key()}${this.space()}:${this.space()}${this.value(depth)}`);
  }

  list(open: string, close: string, item: () => string): string {
    const items = Array.from(
      { length: Math.floor(this.#random() * 5) },
      () => `${this.space()}${item()}${this.space()}`,
    );
    return `${open}${items.join(",")}${items.length === 0 ? this.space() : ""}${close}`;
  }
}

const keys = ["a", "b", "name", "Name", "", "é", '"\\', "__proto__", "x,y:z}", "new"] as const;
const rounds = 3000;

/** The members of other keys, as written: key text and value text. */
function others(text: JsonText, ...keys: readonly string[]): string[] {
  return scanObject(text)
    .filter((member) => !keys.includes(member.key))
    .map((member) => `${text.slice(member.keyStart, member.keyEnd)} ${text.slice(member.valueStart, member.valueEnd)}`);
}

function parsed(text: string): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>; // the author makes objects
}

describe("random documents", () => {
  test("are accepted when JSON.parse accepts them, and kept", () => {
    const author = new Author(1);
    for (let round = 0; round < rounds; round += 1) {
      const text = `${author.space()}${author.value(0)}${author.space()}`;
      expect(String(asJsonText(text, "x"))).toBe(text);
    }
  });

  test("are refused after a mutation exactly when JSON.parse refuses them", () => {
    const author = new Author(2);
    const random = randomFrom(3);
    for (let round = 0; round < rounds; round += 1) {
      const text = author.object(0);
      const at = Math.floor(random() * (text.length + 1));
      const cut = Math.floor(random() * 3);
      const mutated =
        text.slice(0, at) +
        author.pick(["", ",", '"', "{", "}", "]", ":", "0", "\\", "\u0000", "e"]) +
        text.slice(at + cut);
      expect([mutated, isAccepted(() => asJsonText(mutated, "x"))]).toEqual([
        mutated,
        isAccepted(() => parsed(mutated)),
      ]);
    }
  });
});

describe("members of random documents", () => {
  test("setMember agrees with parsing and leaves every other member as it was written", () => {
    const author = new Author(4);
    for (let round = 0; round < rounds; round += 1) {
      const before = asJsonText(author.object(0), "x");
      const key = author.pick(keys);
      const value = asJsonText(author.value(2), "x");
      const after = asJsonText(setMember(before, key, value), "the outcome");
      expect(exactMember(after, key)).toBe(value);
      if (value !== "null") expect(memberText(after, key)).toBe(value);
      expect(scanObject(after).filter((member) => member.key === key)).toHaveLength(1);
      expect(others(after, key)).toEqual(others(before, key));
      expect(Object.getOwnPropertyDescriptor(parsed(after), key)?.value).toEqual(JSON.parse(value));
    }
  });

  test("removeMember agrees with parsing and leaves every other member as it was written", () => {
    const author = new Author(5);
    for (let round = 0; round < rounds; round += 1) {
      const before = asJsonText(author.object(0), "x");
      const key = author.pick(keys);
      const after = asJsonText(removeMember(before, key), "the outcome");
      const spellings = Object.keys(parsed(before)).filter((other) => isSameKey(other, key));
      expect(Object.keys(parsed(after)).filter((other) => isSameKey(other, key))).toEqual([]);
      expect(others(after, key)).toEqual(others(before, key, ...spellings));
      if (spellings.length === 0) expect(after).toBe(before);
    }
  });

  test("setting a value back gives the bytes back", () => {
    const author = new Author(6);
    for (let round = 0; round < rounds; round += 1) {
      const before = asJsonText(author.object(0), "x");
      const fresh = "never used by the author";
      expect(removeMember(setMember(before, fresh, before), fresh)).toBe(before);
    }
  });

  test("without an escape, and with keys that look like their surroundings, are read and changed as a walk does it", () => {
    const author = new Author(8);
    const odd = [...keys, ",", ":", "s", '":"', '","', "{", "]}", "nAme"] as const;
    let plain = 0;
    for (let round = 0; round < 4 * rounds; round += 1) {
      const text = author.object(0);
      if (text.includes("\\")) continue;
      plain += 1;
      const before = asJsonText(text, "x");
      const key = author.pick(odd);
      const members = scanObject(before);
      const last = members.findLast((member) => member.key === key);
      expect(exactMember(before, key)).toBe(last === undefined ? undefined : valueOf(before, last));
      const spelled = members.filter((member) => isSameKey(member.key, key)).map((member) => valueOf(before, member));
      expect(memberText(before, key)).toBe(spelled.findLast((value) => value !== "null") ?? spelled.at(-1));
      const after = asJsonText(setMember(before, key, jsonString("new")), "the outcome");
      expect(memberText(after, key)).toBe(jsonString("new"));
      expect(others(after, key)).toEqual(others(before, key));
      const isLast = members.every((member) => foldKey(member.key) !== foldKey(key) || member === last);
      // In its place when it was the only one of its name, at the end when there was none.
      const place = last === undefined ? members.length : members.indexOf(last);
      if (isLast) expect(scanObject(after).findIndex((member) => member.key === key)).toBe(place);
      const removed = asJsonText(removeMember(before, key), "the outcome");
      expect(scanObject(removed).filter((member) => isSameKey(member.key, key))).toEqual([]);
      const spellings = members.map((member) => member.key).filter((other) => isSameKey(other, key));
      expect(others(removed, key)).toEqual(others(before, key, ...spellings));
    }
    expect(plain).toBeGreaterThan(rounds);
  });

  test("exactMember and arrayElements agree with JSON.parse", () => {
    const author = new Author(7);
    for (let round = 0; round < rounds; round += 1) {
      const object = asJsonText(author.object(0), "x");
      for (const [key, value] of Object.entries(parsed(object))) {
        expect(JSON.parse(exactMember(object, key) ?? "")).toEqual(value);
      }
      const array = asJsonText(
        author.list("[", "]", () => author.value(1)),
        "x",
      );
      expect(arrayElements(array).map((element): unknown => JSON.parse(element))).toEqual(
        JSON.parse(array) as unknown[],
      );
    }
  });
});

function isAccepted(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    // Only whether it was refused is compared.
    return false;
  }
}
