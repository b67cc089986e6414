/**
 * opentelemetry-proto's trace messages in their JSON form: IDs as hex, 64-bit numbers as texts, enums as numbers, names
 * in lowerCamelCase. A field that is not here is not in the schema.
 */
type Check = (value: unknown, where: string) => readonly string[];

const text: Check = (value, where) => (typeof value === "string" ? [] : [`${where} is no text: ${shown(value)}`]);
const flag: Check = (value, where) => (typeof value === "boolean" ? [] : [`${where} is no boolean: ${shown(value)}`]);

function matching(pattern: RegExp, what: string): Check {
  return (value, where) =>
    typeof value === "string" && pattern.test(value) ? [] : [`${where} is no ${what}: ${shown(value)}`];
}

const traceId = matching(/^(?!0{32})[\da-f]{32}$/u, "trace ID of 32 hex digits");
const spanId = matching(/^(?!0{16})[\da-f]{16}$/u, "span ID of 16 hex digits");
const int64 = matching(/^-?\d{1,19}$/u, "64-bit number as a text");
/** From 2020 to 2100, which finds milliseconds and microseconds. */
const unixNano: Check = (value, where) => {
  const wrong = int64(value, where);
  if (wrong.length > 0) return wrong;
  const nanos = BigInt(String(value));
  return nanos > 1_577_836_800_000_000_000n && nanos < 4_102_444_800_000_000_000n ? [] : [`${where} is ${nanos}`];
};

function enumOf(max: number): Check {
  return (value, where) =>
    typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= max
      ? []
      : [`${where} is no number of its enum: ${shown(value)}`];
}

function listOf(check: Check): Check {
  return (value, where) =>
    Array.isArray(value)
      ? value.flatMap((item: unknown, at) => check(item, `${where}[${at}]`))
      : [`${where} is no list: ${shown(value)}`];
}

/** Absent fields are fine in protobuf; `required` are the ones that a trace needs. */
function message(fields: Readonly<Record<string, Check>>, required: readonly string[] = []): Check {
  return (value, where) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return [`${where} is no message`];
    const missing = required.filter((name) => !(name in value)).map((name) => `${where}.${name} is missing`);
    const wrong = Object.entries(value).flatMap(([name, inner]) => {
      const check = fields[name];
      return check === undefined ? [`${where}.${name} is not in the schema`] : check(inner, `${where}.${name}`);
    });
    return [...missing, ...wrong];
  };
}

const scalar = { stringValue: text, boolValue: flag, intValue: int64 };
const oneOf =
  (check: Check): Check =>
  (value, where) =>
    typeof value === "object" && value !== null && Object.keys(value).length === 1
      ? check(value, where)
      : [`${where} must have exactly one kind of value: ${shown(value)}`];
const anyValue = oneOf(message({ ...scalar, arrayValue: message({ values: listOf(oneOf(message(scalar))) }) }));
const attributes = listOf(message({ key: text, value: anyValue }, ["key", "value"]));

const span = message(
  {
    traceId,
    spanId,
    parentSpanId: spanId,
    traceState: text,
    name: text,
    kind: enumOf(5),
    startTimeUnixNano: unixNano,
    endTimeUnixNano: unixNano,
    attributes,
    status: message({ code: enumOf(2), message: text }),
  },
  ["traceId", "spanId", "name", "startTimeUnixNano", "endTimeUnixNano"],
);

const request = message({
  resourceSpans: listOf(
    message({
      resource: message({ attributes }),
      scopeSpans: listOf(message({ scope: message({ name: text, version: text }), spans: listOf(span) })),
    }),
  ),
});

/** What in an ExportTraceServiceRequest does not fit the schema; empty when all does. */
export function otlpProblems(body: unknown): readonly string[] {
  return request(body, "request");
}

function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, 80);
}
