import type { Random } from "./random.ts";

/** Bytes with a meaning to some parser: ends of numbers, of lines, of strings and of paths. */
const tellingBytes = [
  0x00, 0x01, 0x7f, 0x80, 0xff, 0x0a, 0x22, 0x5c, 0x2f, 0x2e, 0x7b, 0x7d, 0x5b, 0x2c, 0x3a, 0x20, 0xc3, 0xed,
];
const bytesMax = 4_096;

/** One to four changes of the kind that break parsers: bits, bytes, lengths, pieces left out, doubled or moved. */
export function mutateBytes(random: Random, original: Uint8Array): Buffer {
  let bytes: Buffer = Buffer.from(original);
  for (let change = random.below(4); change >= 0; change -= 1) bytes = changed(random, bytes);
  return bytes;
}

function changed(random: Random, bytes: Buffer): Buffer {
  const at = random.below(bytes.length + 1);
  const end = Math.min(bytes.length, at + 1 + random.below(16));
  const before = bytes.subarray(0, at);
  switch (random.below(9)) {
    case 0:
      return withByte(bytes, at, (bytes[at] ?? 0) ^ (1 << random.below(8)));
    case 1:
      return withByte(bytes, at, random.pick(tellingBytes));
    case 2:
      return withByte(bytes, at, random.below(256));
    case 3:
      return Buffer.from(before);
    case 4:
      return Buffer.concat([before, bytes.subarray(end)]);
    case 5:
      return Buffer.concat([before, bytes.subarray(at, end), bytes.subarray(at)]).subarray(0, bytes.length + bytesMax);
    case 6:
      return Buffer.concat([before, Buffer.from([random.pick(tellingBytes)]), bytes.subarray(at)]);
    case 7:
      return withNumber(
        bytes,
        at,
        random.pick([0, 1, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1_048_576, 1_048_577]),
      );
    default:
      return Buffer.concat([bytes.subarray(at), before]);
  }
}

function withByte(bytes: Buffer, at: number, value: number): Buffer {
  const copy = Buffer.from(bytes);
  if (at < copy.length) copy[at] = value & 0xff;
  return copy;
}

function withNumber(bytes: Buffer, at: number, value: number): Buffer {
  const copy = Buffer.from(bytes);
  if (at + 4 <= copy.length) copy.writeUInt32LE(value, at);
  return copy;
}

/** Words that mean something to JSON, YAML, paths, shells or terminals. */
const tellingWords = [
  "null",
  "true",
  "-1",
  "0",
  "1e999",
  "9007199254740993",
  '""',
  "[]",
  "{}",
  "../",
  "/../../etc/passwd",
  "\u0000",
  "\\u0000",
  "\\ud800",
  "\u001b[2J",
  "${IFS}",
  "__proto__",
  "constructor",
  '"name":',
  '"type":"../x"',
  '"cniVersion":"9.9.9"',
  "%s%n",
  "\r\n",
  "\t",
  "&a",
  "*a",
  "!!js/function",
  "<<: *a",
  "\ufeff",
  "💥",
  "'",
  "|",
  ">",
  "---\n",
  "#",
  "@",
  ",",
  "a/b/c",
  "net0@..",
];

/** Like `mutateBytes`, for text that stays text: also words that some grammar cares about. */
export function mutateText(random: Random, original: string): string {
  let text = original;
  for (let change = random.below(3); change >= 0; change -= 1) {
    const at = random.below(text.length + 1);
    const length = random.below(random.pick([1, 2, 8, 40]));
    const word = random.pick([
      random.pick(tellingWords),
      String.fromCharCode(random.below(0x250)),
      text.slice(at, at + 30),
    ]);
    text = text.slice(0, at) + word + text.slice(at + length);
  }
  return random.below(20) === 0 ? Buffer.from(mutateBytes(random, Buffer.from(text))).toString("utf8") : text;
}

/** JSON whose values, not whose grammar, are odd: one or two values of the tree replaced, removed or moved. */
export function mutateJson(random: Random, original: unknown): string {
  const copy: unknown = structuredClone(original);
  for (let change = random.below(2); change >= 0; change -= 1) replaceSomewhere(random, copy);
  return JSON.stringify(copy);
}

const tellingValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  2 ** 60,
  "",
  " ",
  "..",
  "../../etc",
  "/",
  "a/b",
  "\u0000",
  "x".repeat(300),
  "\u001b[2J",
  [],
  [[]],
  [null],
  {},
  { a: {} },
  ["../x"],
  [""],
  { "": "" },
  { __proto__: 1 },
];

function replaceSomewhere(random: Random, root: unknown): void {
  const places: { readonly holder: Record<string, unknown>; readonly key: string }[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const holder = value as Record<string, unknown>;
    for (const key of Object.keys(holder)) {
      places.push({ holder, key });
      walk(holder[key]);
    }
  };
  walk(root);
  if (places.length === 0) return;
  const { holder, key } = random.pick(places);
  const choice = random.below(5);
  if (choice === 0) delete holder[key];
  else if (choice === 1)
    holder[random.pick(["name", "type", "plugins", "cniVersion", "x", "__proto__x", "ipam"])] = structuredClone(
      holder[key],
    );
  else if (choice === 2) holder[key] = [holder[key]];
  else holder[key] = structuredClone(random.pick(tellingValues));
}
