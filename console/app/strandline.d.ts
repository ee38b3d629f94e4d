/** What the build makes of the OpenAPI document. */
declare module "strandline:request-schemas" {
  const schemas: Record<
    "deep" | "pages" | "batch" | "spider" | "scrape" | "source" | "proxy" | "config",
    import("./forms/schema.ts").ObjectSchema
  >;
  export default schemas;
}

/** What the build makes of the guide's page about errors: code → cause. */
declare module "strandline:error-causes" {
  const causes: Record<string, string>;
  export default causes;
}

declare module "*.css";
