// Rendered by `npm run deploy:render` from deploy/crd. Edit those files.

/** Our own definitions as shipped, each with the hash over everything that the API server enforces. */
export const shippedDefinitions: readonly { readonly name: string; readonly hash: string }[] = [
  {
    name: "decisions.levee.dev",
    hash: "e0e4901f29934723c888551dcf2af0e7bf3a97b0d05a390b9faa1717d899bc98",
  },
  {
    name: "decisionapprovals.levee.dev",
    hash: "aa786f51c4ddf76ea0dfd2781fb6cbe4fe83da6fe3fb7765936f076e909a54c4",
  },
];
