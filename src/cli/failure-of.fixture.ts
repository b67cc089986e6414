/** Returns the error of `work`. If `work` succeeds, returns an error that fails the test's expectation. */
export async function failureOf(work: Promise<unknown>): Promise<Error> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  return new Error("it succeeded");
}
