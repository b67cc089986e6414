// Rendered by `npm run deploy:render` from deploy/crd. Edit those files.

/** Our own definitions as shipped, each with the hash over everything that the API server enforces. */
export const shippedDefinitions: readonly { readonly name: string; readonly hash: string }[] = [
  {
    name: "decisions.levee.dev",
    hash: "dacc282fd20b98c5c036212be4370d1401cd3c4e58f5337631c9adff992667ba",
  },
  {
    name: "decisionapprovals.levee.dev",
    hash: "bee945e3e66ddc4e61ffe9f117471f2197921a0f832a16db37a67e59e28a6c43",
  },
  {
    name: "rebootgates.levee.dev",
    hash: "8dded1bed0db604eefa9a7bfd30ebd1a8cccf7bb23ac0cd1acd55f89e44e0110",
  },
  {
    name: "rebootexceptions.levee.dev",
    hash: "90ab48adef12288fb7a3e6a82729530dc7370120a186ec21b2dd37184072b9f3",
  },
  {
    name: "networkreadinesses.levee.dev",
    hash: "97d53676e261c0a6c98640910dd9cc0ed808c0572d5a50ddb035f49e20febfc9",
  },
  {
    name: "networkdryruns.levee.dev",
    hash: "19edfde61c64cd0031ccf689e2263f1748589bbde3cf7a4130bd5b99f91f7a50",
  },
];
