import type { Document } from "yaml";
import { definitionHash } from "../../src/guard/approve/spec-hash.ts";

const head = `// Made by \`npm run deploy:render\` from deploy/crd; change those.

/** Our own definitions as shipped, by what the API server holds objects to. */
export const shippedDefinitions: readonly { readonly name: string; readonly hash: string }[] = [
`;

/** The source of src/guard/approve/shipped-definitions.ts: whether a cluster's are ours is told without the files. */
export function shippedDefinitionsSource(objects: readonly Document[]): string {
  const entries = objects
    .map((object) => object.toJS() as { metadata: { name: string } }) // ours
    .filter(({ metadata }) => metadata.name.endsWith(".levee.dev"))
    .map((object) => `  {\n    name: "${object.metadata.name}",\n    hash: "${definitionHash(object)}",\n  },\n`);
  return `${head}${entries.join("")}];\n`;
}
