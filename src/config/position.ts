/** Where an offset (in UTF-16 units) is for a person with an editor; both numbers start at 1. */
export function lineAndColumn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset).split(/\r\n|\n|\r/u);
  return { line: before.length, column: [...(before.at(-1) ?? "")].length + 1 };
}
