/**
 * Which function a request is for, as API Gateway decides: a fixed segment before a parameter, a parameter before the
 * rest.
 */
import { type FunctionSpec, gatewayResource, type Topology } from "../../infra/topology/spec.ts";

export interface MatchedRoute {
  spec: FunctionSpec;
  /** The resource, e.g. `/api/v1/crawl/{job_id}`. */
  resource: string;
  /** Decoded; null where there are none. */
  pathParameters: Record<string, string> | null;
  /** What finds no room in its function is too many, rather than early. */
  isThrottled: boolean;
}

export type RouteMatch = MatchedRoute | { allow: string[] } | undefined;

interface CompiledRoute {
  spec: FunctionSpec;
  method: string;
  resource: string;
  segments: string[];
  isThrottled: boolean;
}

/** @returns a function that gives the route, or the methods that the path does allow, or undefined */
export function compileRoutes(topology: Topology): (method: string, path: string) => RouteMatch {
  const routes: CompiledRoute[] = topology.functions.flatMap((spec) =>
    (spec.routes ?? []).map(({ method, path, throttle }) => ({
      spec,
      method,
      resource: path,
      segments: path.split("/").slice(1),
      isThrottled: throttle !== undefined,
    })),
  );
  return (method, path) => {
    const parts = path
      .split("/")
      .slice(1)
      .map((part) => part.replaceAll(/%2b/gi, "+"));
    if (parts.length > 1 && parts.at(-1) === "") parts.pop();
    const matching = routes.filter((route) => fits(route.segments, parts)).sort(bySpecificity);
    const best = matching[0];
    if (best === undefined) return undefined;
    const same = matching.filter((route) => route.resource === best.resource);
    const found = same.find((route) => route.method === method);
    if (found === undefined) return { allow: same.map((route) => route.method) };
    const resource = gatewayResource(found.resource, found.spec);
    // what API Gateway's own resource for such paths makes of them
    const segments = resource === found.resource ? found.segments : resource.split("/").slice(1);
    const { spec, isThrottled } = found;
    return { spec, resource, pathParameters: parametersOf(segments, parts), isThrottled };
  };
}

const isRest = (segment: string) => segment.endsWith("+}");
const isParameter = (segment: string) => segment.startsWith("{");
const rank = (segment: string) => (isRest(segment) ? 2 : isParameter(segment) ? 1 : 0);

function fits(segments: string[], parts: string[]): boolean {
  return segments.every((segment, index) => {
    if (isRest(segment)) return parts.length > index;
    const last = index === segments.length - 1;
    if (last && parts.length !== segments.length) return false;
    return isParameter(segment) ? (parts[index] ?? "") !== "" : parts[index] === segment;
  });
}

function bySpecificity(one: CompiledRoute, other: CompiledRoute): number {
  for (let index = 0; index < Math.max(one.segments.length, other.segments.length); index += 1) {
    const difference = rank(one.segments[index] ?? "") - rank(other.segments[index] ?? "");
    if (difference !== 0) return difference;
  }
  return 0;
}

function parametersOf(segments: string[], parts: string[]): Record<string, string> | null {
  const found = segments.flatMap((segment, index) => {
    if (!isParameter(segment)) return [];
    const value = isRest(segment) ? parts.slice(index).join("/") : (parts[index] ?? "");
    return [[segment.replace(/^\{|\+?\}$/g, ""), decode(value)] as const];
  });
  return found.length === 0 ? null : Object.fromEntries(found);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
