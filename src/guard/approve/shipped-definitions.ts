// Rendered by `npm run deploy:render` from deploy/crd. Edit those files.

/** Our own definitions as shipped, each with the hash over everything that the API server enforces. */
export const shippedDefinitions: readonly { readonly name: string; readonly hash: string }[] = [
  {
    name: "decisions.levee.dev",
    hash: "5ebaf94f33b60bad61ecf143396d2e94232602a5dd12b19d943f6f9eef47e9ea",
  },
  {
    name: "decisionapprovals.levee.dev",
    hash: "aa786f51c4ddf76ea0dfd2781fb6cbe4fe83da6fe3fb7765936f076e909a54c4",
  },
];
