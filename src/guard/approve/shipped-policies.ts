// Rendered by `npm run deploy:render` from deploy/policies. Edit those files.

/** The admission policies as shipped. A policy in the cluster with another hash of its spec is another policy. */
export const shippedPolicies: readonly {
  readonly kind: string;
  readonly name: string;
  readonly specHash: string;
}[] = [
  {
    kind: "ValidatingAdmissionPolicy",
    name: "levee-approval-names-its-author",
    specHash: "c6d6ceca0ee9d494820121e6fbb6bb0550c65d640a919beed4a881c935402a0d",
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    name: "levee-approval-names-its-author",
    specHash: "843fb9ff4a0295953b656a0733fbef0a3641229d18fe47bae1d17a43330bc94e",
  },
  {
    kind: "ValidatingAdmissionPolicy",
    name: "levee-decisions-come-from-the-guard",
    specHash: "1a17ac67ac50e3fc277c38d0ad3c2737e59d618535ac886d2033503d6ac7f9d3",
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    name: "levee-decisions-come-from-the-guard",
    specHash: "ec127f12bcd901ee07a3b1b09a5993cbd1b09e011fe57159a8fde31b036e5472",
  },
  {
    kind: "ValidatingAdmissionPolicy",
    name: "levee-guard-deletes-only-ownerless-pods",
    specHash: "6e13241cef8538145eef236ac9270dc5aa744c49bfd67e39b30199ea9aaf061c",
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    name: "levee-guard-deletes-only-ownerless-pods",
    specHash: "2566269780221df89c96cbd5278f713bc9b1d22d88b95baca2208ddc44c20cd9",
  },
  {
    kind: "ValidatingAdmissionPolicy",
    name: "levee-guard-changes-memory-only",
    specHash: "629c85cf7cd06574492a8dce0af6e52baf879f9f8f4a5d970bc948578327d8e8",
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    name: "levee-guard-changes-memory-only",
    specHash: "7ffb557e1caf53168ae6b54d332700f3ae7428c0ad92624753b45b98553f876d",
  },
  {
    kind: "ValidatingAdmissionPolicy",
    name: "levee-guard-suspends-jobs-only",
    specHash: "7bd740df2eae31c6a2134ab451b9f6c88db35b3781d76113a2b4f034b5201f6d",
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    name: "levee-guard-suspends-jobs-only",
    specHash: "3604217e156d41d490142a2bd564314b7c23d072f27e48a703e315d19bc2c030",
  },
  {
    kind: "ValidatingAdmissionPolicy",
    name: "levee-guard-stops-sources-only",
    specHash: "ed612f59878193c72a6e7836b08422cf123022fd56eff923ae6302d0f8531268",
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    name: "levee-guard-stops-sources-only",
    specHash: "00af5cbe603ee321dd8b813d8827e71519b63f6406e3481a1b97bdc156543b50",
  },
  {
    kind: "ValidatingAdmissionPolicy",
    name: "levee-guard-writes-nothing-else",
    specHash: "23fa19cc1e56f3b0f50f8274c973bf455b2580aec002650f79cd0b05883b10eb",
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    name: "levee-guard-writes-nothing-else",
    specHash: "fd14c630286c88be601b6b43e56cf6501c8ccba10644ac8949866f4fb1cf773d",
  },
  {
    kind: "ValidatingAdmissionPolicy",
    name: "levee-pods-need-a-controller-owner",
    specHash: "af697f631b7548f494ad58eaad1b564784e8cd03cdbe01e78c653aa10c9f31af",
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    name: "levee-pods-need-a-controller-owner-warn",
    specHash: "2f27b34ba13f4e7373eac64c37ad0731c687f62f5ced3a14b57955123fcedee4",
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    name: "levee-pods-need-a-controller-owner-deny",
    specHash: "9c838ec7ec5d05e3242cc26d89bec6f2df55e5988c8272f2dfc42e9d92bd7951",
  },
  {
    kind: "ValidatingAdmissionPolicy",
    name: "levee-daemon-speaks-for-its-node",
    specHash: "828d7857efb22bec6986dcbef67e66572be555e44cd87e506466e74fb3cdb80a",
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    name: "levee-daemon-speaks-for-its-node",
    specHash: "f63adf5845887bbf898bf1977f2bd087747629ca6245c88f40cf110d51b3ff9e",
  },
  {
    kind: "ValidatingAdmissionPolicy",
    name: "levee-reboot-gates-come-from-the-guard",
    specHash: "dc14aa283ca2cdff46cd20fb31c9b58034c5ce7e25b01e5ef0ef714f9a4d28a9",
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    name: "levee-reboot-gates-come-from-the-guard",
    specHash: "f5b53d1d7490fe000767008fc04c03ba201c4554434ab0ad46ee047242c8c84f",
  },
  {
    kind: "ValidatingAdmissionPolicy",
    name: "levee-reboot-exception-names-its-author",
    specHash: "1d69a817089578f35c112b3761302926d63bf9a462d5c2e7e65942522e4038b1",
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    name: "levee-reboot-exception-names-its-author",
    specHash: "b52042aa4a158a773b77ecbc284075afb72928d7462046c80508ea45d92f30a8",
  },
  {
    kind: "ValidatingAdmissionPolicy",
    name: "levee-guard-annotates-nodes-only",
    specHash: "df75d474a8585b7736a89a96f8947ae93bfbc138192ffe0501821d62f4921705",
  },
  {
    kind: "ValidatingAdmissionPolicyBinding",
    name: "levee-guard-annotates-nodes-only",
    specHash: "341eec8fade78d4a5d1c89622fd4e6c24256e5f5b43881062278b63ccac0c599",
  },
];
