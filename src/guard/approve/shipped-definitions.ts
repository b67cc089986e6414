// Made by `npm run deploy:render` from deploy/crd; change those.

/** Our own definitions as shipped, by what the API server holds objects to. */
export const shippedDefinitions: readonly { readonly name: string; readonly hash: string }[] = [
  {
    name: "decisions.levee.dev",
    hash: "4555b5366f4126f021ae6d7bd4409869061064df1b0e490d9e4c6ac693a88dba",
  },
  {
    name: "decisionapprovals.levee.dev",
    hash: "aa786f51c4ddf76ea0dfd2781fb6cbe4fe83da6fe3fb7765936f076e909a54c4",
  },
];
