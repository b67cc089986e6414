/** On a Node: `allow until TIME`, or `deny` with the codes. Absent is Deny, and so is a time that is over. */
export const gateAnnotation = "levee.dev/reboot-gate";
