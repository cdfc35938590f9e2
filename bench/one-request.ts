import type { LoadRequest, Target } from './load.ts';

/** Sends one request like the generator and returns its body. Throws for any response except 2xx. */
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
