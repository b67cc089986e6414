/** What is the same in messages that differ in names of containers and figures only: one went wrong as the other did. */
export function messageKind(message: string): string {
  return message.replaceAll(/[0-9a-f]{12,}|\d+(?:\.\d+)?/gu, "N");
}
