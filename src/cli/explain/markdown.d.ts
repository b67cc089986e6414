/** A page as text, as Bun and its build import it. */
declare module "*.md" {
  const text: string;
  export default text;
}
