import type { LoadRequest, Target } from './load.ts';

/** Sends one request as the generator would, and answers its body; any answer but 2xx is an error. */
export const sendOne = async ({ url, headers }: Target, request: LoadRequest): Promise<string> => {
  const response = await fetch(`${url}${request.path()}`, {
    method: request.method,
    headers: { 'content-type': 'application/json', ...headers, ...request.headers?.() },
    ...(request.body && { body: request.body() }),
  });
  const body = await response.text();
  if (!response.ok) throw new Error(`${request.method} ${response.url} answered ${response.status} ${body}`);
  request.onAnswer?.(body);
  return body;
};
