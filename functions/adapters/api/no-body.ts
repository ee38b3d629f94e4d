/** Requests without a body, where a route needs none. */
import type { HonoRequest } from "hono";
import { notDeclaredAsJson } from "./errors.ts";
import type { DefinedRoute } from "./route.ts";

/** A POST that needs to say nothing need not send an empty object for that. */
export const mayHaveNoBody = ({ method, body }: DefinedRoute<never>["spec"]): boolean =>
  method === "POST" && body?.safeParse({}).success === true;

/** No body counts as an empty object, whatever type it is declared as; what there is must be JSON. */
export async function admitNoBody(req: HonoRequest): Promise<void> {
  if ((await req.text()) === "") req.raw.headers.delete("content-type");
  else if (!/^application\/([\w.-]+\+)?json\b/i.test(req.header("content-type") ?? "")) throw notDeclaredAsJson();
}
