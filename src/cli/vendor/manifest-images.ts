const part = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
/** A registry, a path, then a tag, a digest or both. */
const imageName = new RegExp(
  `^(?:[A-Za-z0-9][A-Za-z0-9.-]*(?::\\d+)?/)?${part}(?:/${part})*(?::[A-Za-z0-9_][\\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`,
  "u",
);
/** How operators are told the images of what they install. */
const imageVariable = /(?:^|_)IMAGE$|^RELATED_IMAGE_/u;

/** Every image that objects name: of containers, of volumes, and those that an operator gets as variables. Sorted, each once. */
export function imagesIn(objects: readonly unknown[]): readonly string[] {
  const found = new Set<string>();
  for (const object of objects) collect(object, found);
  return [...found].toSorted();
}

function collect(value: unknown, found: Set<string>): void {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) for (const image of ownImages(value as Fields)) found.add(image); // of the YAML parser
  for (const inner of Object.values(value)) collect(inner, found);
}

type Fields = Readonly<Record<string, unknown>>;

function ownImages(fields: Fields): readonly string[] {
  const { image } = fields;
  const variable = isVariable(fields) && fields.value.includes("/") ? fields.value : undefined;
  return [image, variable].filter(isImage);
}

function isVariable(
  fields: Readonly<Record<string, unknown>>,
): fields is { readonly name: string; readonly value: string } {
  const { name, value } = fields;
  return typeof name === "string" && typeof value === "string" && imageVariable.test(name);
}

function isImage(value: unknown): value is string {
  return typeof value === "string" && imageName.test(value);
}
