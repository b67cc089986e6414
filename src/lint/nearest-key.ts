import { foldKey } from "../cni/fold-key.ts";
import { changesBetween } from "./changes-between.ts";

/** The known key that was probably meant, or undefined if none is near. */
export function nearestKey(key: string, known: readonly string[]): string | undefined {
  // A key of thousands of letters is no slip, and comparing it would take long.
  if (key.length > keyCharsMax) return undefined;
  const wanted = bare(key);
  const [best] = known
    .map((candidate) => ({ candidate, far: distance(wanted, bare(candidate)) }))
    .filter(({ far }) => far <= changesAllowed(wanted.length))
    .toSorted((left, right) => left.far - right.far);
  return best?.candidate;
}

const keyCharsMax = 64;

/** `range_start`, `range-start` and `rangeStart` are one slip. */
function bare(key: string): string {
  return foldKey(key).replaceAll(/[_-]/gu, "");
}

/** `vlan` for `vlanId`: one is the beginning of the other. `vlna` for `vlan`: the same letters, some changed places. */
function distance(left: string, right: string): number {
  if (left.length === right.length && letters(left) === letters(right)) return left === right ? 0 : 1;
  const isBeginning = Math.min(left.length, right.length) >= 4 && (left.startsWith(right) || right.startsWith(left));
  const added = Math.abs(left.length - right.length);
  return isBeginning && added <= 2 ? 1 : changesBetween(left, right);
}

function letters(word: string): string {
  return [...word].toSorted().join("");
}

function changesAllowed(length: number): number {
  if (length <= 2) return 0;
  if (length <= 4) return 1;
  return length <= 9 ? 2 : 3;
}
