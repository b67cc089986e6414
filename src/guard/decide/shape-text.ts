import { foreignText } from "../detect/foreign-text.ts";

/** The CRD's limit. */
const shapeCharsMax = 512;

/** A shape as a Decision holds it. Later rounds find the avalanche again by this text. */
export function shapeText(shape: string): string {
  return foreignText(shape, shapeCharsMax);
}
