import { afterAll, afterEach, beforeAll, beforeEach, describe } from "bun:test";
import { missingForApiServer } from "./policy-server.ts";

/** What a file with tests on a real API server uses instead of Bun's own: all of it does nothing where the server cannot run. */
export interface ServerTests {
  readonly isPossible: boolean;
  readonly group: typeof describe;
  readonly beforeAll: typeof beforeAll;
  readonly beforeEach: typeof beforeEach;
  readonly afterEach: typeof afterEach;
  readonly afterAll: typeof afterAll;
}

/** `alsoMissing`: what the file lacks of the things that it needs besides an API server. */
export function needsServer(file: string, alsoMissing?: string): ServerTests {
  const missing = missingForApiServer() ?? alsoMissing;
  if (missing === undefined) return { isPossible: true, group: describe, beforeAll, beforeEach, afterEach, afterAll };
  console.warn(`${file}: skipped, ${missing}`);
  const never = (): void => undefined;
  return {
    isPossible: false,
    group: describe.skip,
    beforeAll: never,
    beforeEach: never,
    afterEach: never,
    afterAll: never,
  };
}
