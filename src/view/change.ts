/** What happened to one object: `before` is undefined when it is new, `now` when it is gone. */
export interface Change<T> {
  readonly before: T | undefined;
  readonly now: T | undefined;
}
