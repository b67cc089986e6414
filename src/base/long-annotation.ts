/**
 * Of an annotation by which a pod asks for networks: 64 networks with 256 characters each. A node's pods are kept in
 * memory, and whoever may create pods must not fill it.
 */
export const wishCharsMax = 16_384;

/** No annotation that asks for networks begins so. */
const mark = "\u0000too long: ";

/** The annotation; a mark with its length in the place of one that is too long, which no reader takes for "none". */
export function keptWish(text: string): string {
  return text.length > wishCharsMax ? `${mark}${text.length}` : text;
}

/** The length of an annotation that is too long, also of one that was not kept. */
export function tooLongWish(text: string): string | undefined {
  if (text.startsWith(mark)) return text.slice(mark.length);
  return text.length > wishCharsMax ? String(text.length) : undefined;
}
