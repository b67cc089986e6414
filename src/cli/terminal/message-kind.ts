/** Messages of the same kind differ only in container IDs and numbers, which become `N` here. */
export function messageKind(message: string): string {
  return message.replaceAll(/[0-9a-f]{12,}|\d+(?:\.\d+)?/gu, "N");
}
