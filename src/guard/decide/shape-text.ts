import { foreignText } from "../detect/foreign-text.ts";

/** As the definition of the Decision allows it. */
const shapeCharsMax = 512;

/** A shape as it is written into a Decision: by this text a later look finds it again. */
export function shapeText(shape: string): string {
  return foreignText(shape, shapeCharsMax);
}
