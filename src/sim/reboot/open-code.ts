/** Stands among the reasons that hold a node while its gate allows the reboot and nobody has come to look. */
export const openCode = "Allowed";
