/** The function of CloudFront that gives each address of the console its file. */
import { placeOf } from "../../console/addresses.ts";

/**
 * JavaScript of cloudfront-js-2.0. Node has taken the types out of `placeOf`, so what runs at the edge is the text that
 * the local runtime runs.
 */
export const VIEWER_REQUEST = `${placeOf.toString()}

function handler(event) {
  const request = event.request;
  const place = placeOf(request.uri);
  if (place.location !== undefined) {
    return { statusCode: 302, statusDescription: "Found", headers: { location: { value: place.location } } };
  }
  if (place.file === undefined) return { statusCode: 404, statusDescription: "Not Found" };
  request.uri = "/console/" + place.file;
  return request;
}
`;
