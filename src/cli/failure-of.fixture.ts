/** The error that the work ends with; another one when it succeeds, so that the test fails there. */
export async function failureOf(work: Promise<unknown>): Promise<Error> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  return new Error("it succeeded");
}
