import { type QueryParameter, routeFileRequest } from '../../../shared/files/images/variant-url.ts';

// Runs at CloudFront's edge (infra/stacks/size-requests.ts).

/** CloudFront's form of a parameter: the last value, and all values if it is repeated. */
interface EdgeValue {
  readonly value: string;
  readonly multiValue?: readonly { readonly value: string }[];
}

/** The part of a viewer request that this function reads. */
export interface EdgeEvent {
  readonly context: { readonly requestId: string };
  readonly request: { uri: string; readonly querystring: Readonly<Record<string, EdgeValue>> };
}

/** Rewrites a request for an image variant to its stored path, and rejects an invalid one. */
export function handler(event: EdgeEvent) {
  const request = event.request;
  const parameters: QueryParameter[] = [];
  Object.keys(request.querystring).forEach((name) => {
    const given = request.querystring[name] as EdgeValue;
    (given.multiValue || [given]).forEach((one) => {
      parameters.push([name, one.value]);
    });
  });
  const led = routeFileRequest(request.uri, parameters, event.context.requestId);
  if (led.status === 200) {
    request.uri = led.path;
    return request;
  }
  return {
    statusCode: led.status,
    headers: {
      'content-type': { value: 'application/json' },
      'cache-control': { value: 'no-store' },
      'access-control-allow-origin': { value: '*' },
      'x-content-type-options': { value: 'nosniff' },
    },
    body: { encoding: 'text', data: led.body },
  };
}
