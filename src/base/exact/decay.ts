/**
 * Math.exp and Math.log2 may differ in their last bit from one CPU or C library to another, and a simulation must be the
 * same on all of them. Here only + - * / decide, which IEEE 754 defines to the last bit.
 */

/** ln 2 in two parts: a small whole number times the first one is exact. */
const ln2High = 6.931_471_803_691_238_16e-1;
const ln2Low = 1.908_214_929_270_587_7e-10;
/** The series to this power is exact to the last bits within half of ln 2. */
const powersMax = 14;
/** What is left after this is less than any number that somebody could add it to, and soon too small for all bits. */
const nothingFrom = 708;

/** e to the power of -`x`, for an `x` that is not negative: how much is left of something that fades. */
export function decay(x: number): number {
  if (x >= nothingFrom) return 0;
  const halvings = Math.round(x / ln2High);
  const rest = halvings * ln2High - x + halvings * ln2Low;
  let sum = 1;
  for (let power = powersMax; power >= 1; power -= 1) sum = 1 + (rest / power) * sum;
  return sum * halved(halvings);
}

/** The smallest power of two that is not below `least`. Zero and infinity stay what they are. */
export function powerOfTwoFrom(least: number): number {
  if (!(least > 0) || !Number.isFinite(least)) return least;
  let power = 1;
  while (power < least) power *= 2;
  while (power / 2 >= least) power /= 2;
  return power;
}

/** The powers of two in quarters of a doubling. */
const quarters = [1.189_207_115_002_721, 1.414_213_562_373_095_1, 1.681_792_830_507_429, 2] as const;

/** The number of the step that `value` is on, where four steps double it; 0 up to 1. */
export function doublingSteps(value: number): number {
  if (!(value > 1) || !Number.isFinite(value)) return 0;
  let steps = 0;
  let below = 1;
  for (; below * 2 < value; below *= 2) steps += quarters.length;
  return steps + 1 + quarters.findIndex((quarter) => value <= below * quarter);
}

/** 1/2 to the power of `times`, exact. */
function halved(times: number): number {
  let result = 1;
  for (let left = times, factor = 0.5; left > 0; left = Math.floor(left / 2), factor *= factor)
    if (left % 2 === 1) result *= factor;
  return result;
}
