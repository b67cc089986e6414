const factors: Readonly<Record<string, number>> = {
  "": 1,
  "k": 1e3,
  "M": 1e6,
  "G": 1e9,
  "T": 1e12,
  "Ki": 2 ** 10,
  "Mi": 2 ** 20,
  "Gi": 2 ** 30,
  "Ti": 2 ** 40,
};

/** Bytes of a memory quantity such as `50Mi`, `1G` or `1.5Gi`; undefined for anything else. */
export function memoryBytes(text: string): number | undefined {
  const found = /^(\d{1,15}(?:\.\d{1,9})?)(Ki|Mi|Gi|Ti|k|M|G|T)?$/.exec(text);
  const factor = factors[found?.[2] ?? ""];
  if (found === null || factor === undefined) return undefined;
  return Math.ceil(Number(found[1]) * factor);
}

/** In Gi where that gives a whole number, else in Mi, rounded down. */
export function memoryText(bytes: number): string {
  const mebibytes = Math.floor(bytes / 2 ** 20);
  return mebibytes % 1024 === 0 && mebibytes > 0 ? `${mebibytes / 1024}Gi` : `${mebibytes}Mi`;
}
