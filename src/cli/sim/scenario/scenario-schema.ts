import { scenarioFields, type Field, type FieldTable } from "./scenario-fields.ts";

type Schema = Readonly<Record<string, unknown>>;

/** The JSON schema of a scenario file, for editors. It comes of the same table as the reader. */
export function scenarioSchema(): Schema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "A scenario of levee sim run",
    ...objectSchema(scenarioFields),
    oneOf: [{ required: ["pods"] }, { required: ["reboots"] }],
  };
}

function objectSchema({ known, required }: FieldTable): Schema {
  const properties = Object.fromEntries(Object.entries(known).map(([key, field]) => [key, fieldSchema(field)]));
  return { type: "object", additionalProperties: false, required, properties };
}

function fieldSchema(field: Field): Schema {
  return { description: `${field.says}; such as ${field.example}`, ...shapeOf(field) };
}

function shapeOf(field: Field): Schema {
  switch (field.is) {
    case "count":
      return { type: "integer", minimum: field.min, maximum: field.max };
    case "choice":
      return { enum: field.of };
    case "object":
      return objectSchema(field.fields);
    case "list":
      return { type: "array", items: objectSchema(field.fields) };
    default:
      return plainShapes[field.is];
  }
}

/** As Kubernetes names things. */
export const namePattern = "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$";

const plainShapes = {
  text: { type: "string", minLength: 1, maxLength: 200 },
  name: { type: "string", pattern: namePattern },
  flag: { type: "boolean" },
  span: { type: "string", pattern: String.raw`^\d{1,6}(\.\d{1,3})?(ms|s|m|h)$` },
  bytes: { type: ["string", "integer"], pattern: String.raw`^\d{1,15}(k|M|G|Ki|Mi|Gi)?$` },
  cpu: { type: ["string", "number"], pattern: String.raw`^(\d{1,6}m|\d{1,3}(\.\d{1,3})?)$` },
  names: { type: "array", items: { type: "string", pattern: namePattern } },
} as const;
