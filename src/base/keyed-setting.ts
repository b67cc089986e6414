import { firstChars } from "./short-text.ts";

/** Longer than every key, and too short to show the whole of a misplaced secret. */
const shownCharsMax = 16;

interface SettingForm<K extends string> {
  readonly keys: readonly K[];
  /** The keys that may occur several times. */
  readonly repeated?: readonly K[];
}

interface KeyedSetting<K extends string> {
  readonly head: string;
  readonly values: ReadonlyMap<K, readonly string[]>;
}

/** Reads `HEAD[,key=value]…`, or says what is wrong with it. Values are never quoted: one may be a secret instead of its file. */
export function parseKeyedSetting<K extends string>(
  text: string,
  { keys, repeated = [] }: SettingForm<K>,
): KeyedSetting<K> | { readonly problem: string } {
  const [head = "", ...options] = text.split(",");
  const values = new Map<K, readonly string[]>();
  for (const option of options) {
    const [name, value] = splitOption(option);
    const key = keys.find((known) => known === name);
    if (key === undefined || value === undefined) return { problem: unknownKey(name, keys) };
    const before = values.get(key) ?? [];
    if (before.length > 0 && !repeated.includes(key)) return { problem: `${key} is set twice` };
    if (value === "") return { problem: `${key}= is empty` };
    values.set(key, [...before, value]);
  }
  return { head, values };
}

/** The name before the first equals sign, and the value after it if there is one. */
function splitOption(option: string): readonly [string, string | undefined] {
  const at = option.indexOf("=");
  return at < 0 ? [option, undefined] : [option.slice(0, at), option.slice(at + 1)];
}

function unknownKey(name: string, keys: readonly string[]): string {
  return `"${firstChars(name, shownCharsMax)}" is not one of ${keys.map((key) => `${key}=`).join(", ")}`;
}
