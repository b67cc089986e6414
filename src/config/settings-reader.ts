import { isAbsolute, normalize } from "node:path";
import type { JsonText } from "../base/brand.ts";
import { foldKey } from "../cni/fold-key.ts";
import { arrayElements, jsonKind, scanObject, valueOf } from "../cni/json-text.ts";
import { shorten, type ConfigProblem } from "./problem.ts";

/** A top-level member of a configuration, with its value as the original text. */
export interface Setting {
  readonly key: string;
  readonly value: JsonText;
}

const pathBytesMax = 1_024;

/**
 * Reads typed settings from a JSON object as Go does: the case of keys does not matter, the last of several counts, and
 * null counts as absent. A value of the wrong type becomes a problem and reads as absent, so that one pass finds them
 * all.
 */
export class SettingsReader {
  readonly problems: ConfigProblem[] = [];
  /** Members in their order, without the ones that a later member of the same key overrides. */
  readonly settings: readonly Setting[];
  readonly #byKey = new Map<string, Setting>();

  /** Takes the text of an object, or its members. */
  constructor(object: JsonText | readonly Setting[]) {
    for (const setting of typeof object === "string" ? settingsIn(object) : object) {
      const folded = foldKey(setting.key);
      // Delete first, so that the map has the order of the members that count.
      this.#byKey.delete(folded);
      this.#byKey.set(folded, setting);
    }
    this.settings = [...this.#byKey.values()];
  }

  has(key: string): boolean {
    return this.#get(key) !== undefined;
  }

  isList(key: string): boolean {
    const setting = this.#get(key);
    return setting !== undefined && jsonKind(setting.value) === "array";
  }

  string(key: string): string | undefined {
    return this.#read(key, "string", "set a string", (text) => String(JSON.parse(text)));
  }

  /** A string that passes `isRight`. An empty one counts as absent. */
  word<Word extends string>(key: string, isRight: (text: string) => text is Word, remedy: string): Word | undefined;
  word(key: string, isRight: (text: string) => boolean, remedy: string): string | undefined;
  word(key: string, isRight: (text: string) => boolean, remedy: string): string | undefined {
    const value = this.string(key);
    if (value === undefined || value === "" || isRight(value)) return value === "" ? undefined : value;
    return this.wrong(key, remedy);
  }

  /** An absolute path, without a trailing slash. */
  path(key: string, bytesMax: number = pathBytesMax): string | undefined {
    const isRight = (text: string): boolean =>
      isAbsolute(text) && !text.includes("\0") && Buffer.byteLength(text) <= bytesMax && normalize(text) !== "/";
    const value = this.word(key, isRight, `set an absolute path of at most ${bytesMax} bytes`);
    return value === undefined ? undefined : normalize(value).replace(/\/$/u, "");
  }

  flag(key: string): boolean | undefined {
    return this.#read(key, "bool", `set true or false${this.#quotesHint(key)}`, (text) => text === "true");
  }

  integer(key: string, min: number, max: number, unit: string = ""): number | undefined {
    const remedy = `set a whole number${unit} from ${min} to ${max}${this.#quotesHint(key)}`;
    const value = this.#read(key, "number", remedy, Number);
    if (value === undefined || (Number.isInteger(value) && value >= min && value <= max)) return value;
    return this.wrong(key, remedy);
  }

  object(key: string): JsonText | undefined {
    return this.#read(key, "object", "set an object", (text) => text);
  }

  list(key: string): readonly JsonText[] | undefined {
    return this.#read(key, "array", "set a list", arrayElements);
  }

  strings(key: string): readonly string[] | undefined {
    const items = this.#listOf(key, "string", "set a list of strings");
    return items?.map((item) => String(JSON.parse(item)));
  }

  objects(key: string): readonly JsonText[] | undefined {
    return this.#listOf(key, "object", "set a list of objects");
  }

  flags(key: string): Readonly<Record<string, boolean>> | undefined {
    const object = this.object(key);
    if (object === undefined) return undefined;
    const members = scanObject(object).map((member) => [member.key, valueOf(object, member)] as const);
    if (members.some(([, value]) => jsonKind(value) !== "bool"))
      return this.wrong(key, "set an object of true and false");
    return Object.freeze(Object.fromEntries(members.map(([name, value]) => [name, value === "true"])));
  }

  /** Adds a problem under the key as written in the file. */
  wrong(key: string, remedy: string): undefined {
    const setting = this.#byKey.get(foldKey(key));
    this.problems.push({
      key: setting?.key ?? key,
      seen: setting === undefined ? "absent" : shorten(setting.value),
      remedy,
    });
    return undefined;
  }

  /** Sorts problems by the order of their keys in the file. Problems of absent keys come last. */
  inFileOrder(problems: readonly ConfigProblem[]): ConfigProblem[] {
    const places = new Map(this.settings.map(({ key }, place) => [key, place]));
    const placeOf = ({ key }: ConfigProblem): number =>
      places.get(key) ?? places.get(key.replace(/\[\d+\]$/u, "")) ?? this.settings.length;
    return problems.toSorted((left, right) => placeOf(left) - placeOf(right));
  }

  /** Mentions quotes only when the value has them. */
  #quotesHint(key: string): string {
    const setting = this.#get(key);
    return setting !== undefined && jsonKind(setting.value) === "string" ? ", without quotes" : "";
  }

  #listOf(key: string, kind: "string" | "object", remedy: string): readonly JsonText[] | undefined {
    const items = this.list(key);
    const stranger = items?.findIndex((item) => jsonKind(item) !== kind) ?? -1;
    if (items === undefined || stranger < 0) return items;
    this.problems.push({
      key: `${this.#get(key)?.key ?? key}[${stranger}]`,
      seen: shorten(items[stranger] ?? ""),
      remedy,
    });
    return undefined;
  }

  #read<Value>(
    key: string,
    kind: ReturnType<typeof jsonKind>,
    remedy: string,
    convert: (text: JsonText) => Value,
  ): Value | undefined {
    const setting = this.#get(key);
    if (setting === undefined) return undefined;
    return jsonKind(setting.value) === kind ? convert(setting.value) : this.wrong(key, remedy);
  }

  /** The member that counts, unless it is null. */
  #get(key: string): Setting | undefined {
    const setting = this.#byKey.get(foldKey(key));
    return setting === undefined || jsonKind(setting.value) === "null" ? undefined : setting;
  }
}

function settingsIn(object: JsonText): readonly Setting[] {
  return scanObject(object).map((member) => ({ key: member.key, value: valueOf(object, member) }));
}
