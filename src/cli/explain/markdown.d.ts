/** A page of ours as its text; Bun and its build read it so. */
declare module "*.md" {
  const text: string;
  export default text;
}
