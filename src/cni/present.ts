/** `{[key]: value}`, or `{}` without a value: with exact optional properties a member is absent, never undefined. */
export function present<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { [K in Key]?: Value }); // a computed key widens to string
}
