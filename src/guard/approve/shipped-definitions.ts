// Rendered by `npm run deploy:render` from deploy/crd. Edit those files.

/** Our own definitions as shipped, each with the hash over everything that the API server enforces. */
export const shippedDefinitions: readonly { readonly name: string; readonly hash: string }[] = [
  {
    name: "decisions.levee.dev",
    hash: "a628c29b7632c00bf69b5a3afedd5dbdc19ea13ac254a15a8016848b001b8dad",
  },
  {
    name: "decisionapprovals.levee.dev",
    hash: "aa786f51c4ddf76ea0dfd2781fb6cbe4fe83da6fe3fb7765936f076e909a54c4",
  },
];
