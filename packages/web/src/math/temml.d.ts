declare module "temml" {
  const temml: {
    /** The tree before it becomes text. */
    __renderToMathMLTree(this: void, source: string, options: object): unknown;
  };
  export default temml;
}
