import type { Document } from "yaml";

/** Objects as one file, with their comments, below a note on where they come from. */
export function manifest(note: string, objects: readonly Document[]): string {
  return note + objects.map((object) => `---\n${object.toString({ lineWidth: 0, directives: false })}`).join("");
}
