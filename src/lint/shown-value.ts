/** A value of somebody's file in a message: quoted, on one line, not too long. */
export function shownValue(value: string): string {
  return JSON.stringify(value.length > shownCharsMax ? `${value.slice(0, shownCharsMax)}…` : value);
}

const shownCharsMax = 80;
