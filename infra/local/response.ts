import type { ServerResponse } from 'node:http';
import type { CorsPolicy } from '../stacks/cors-policy.ts';

/** Names and values in turn, as `writeHead` accepts them. */
export type RawHeaders = readonly string[];

/** The CORS headers that the gateway adds for a page's origin; functions send none (contract 1, "CORS"). */
export interface Cors {
  /** For every response, errors included. */
  readonly onResponse: (origin: string) => RawHeaders;
  readonly onPreflight: (origin: string) => RawHeaders;
}

const notAllowed: RawHeaders = ['vary', 'Origin'];

const matcher = (origins: readonly string[]) => {
  const exact = new Set(origins);
  const prefixes = origins.filter((origin) => origin.endsWith('*')).map((origin) => origin.slice(0, -1));
  return (origin: string): boolean => exact.has(origin) || prefixes.some((prefix) => origin.startsWith(prefix));
};

export const corsOf = (policy: CorsPolicy): Cors => {
  const isAllowed = matcher(policy.origins);
  const allow = (origin: string, more: RawHeaders): RawHeaders =>
    isAllowed(origin)
      ? ['access-control-allow-origin', origin, 'access-control-allow-credentials', 'true', 'vary', 'Origin', ...more]
      : notAllowed;
  const onResponse: RawHeaders = ['access-control-expose-headers', policy.exposedHeaders.join(',')];
  const onPreflight: RawHeaders = [
    'access-control-allow-methods',
    policy.methods.join(','),
    'access-control-allow-headers',
    policy.requestHeaders.join(','),
    'access-control-max-age',
    String(policy.maxAgeSeconds),
  ];
  return {
    onResponse: (origin) => allow(origin, onResponse),
    onPreflight: (origin) => allow(origin, onPreflight),
  };
};

/** A function's result (payload 2.0). Without `statusCode`, the complete value is a JSON body. */
export type FunctionResult =
  | {
      readonly statusCode?: number;
      readonly headers?: Readonly<Record<string, string | number | boolean>>;
      readonly cookies?: readonly string[];
      readonly body?: string;
      readonly isBase64Encoded?: boolean;
    }
  | undefined;

/** Lambda's limit for the complete result as JSON, in which the body is a string. */
const maxResultBytes = 6_291_556;

/** A UTF-16 unit becomes at most six bytes of JSON: an escaped control character. */
const maxBytesPerUnit = 6;

/** More than any function returns in headers. */
const maxOtherBytes = 64 * 1024;

/** Throws if Lambda would reject the result. Small bodies are not measured. */
const requireAcceptable = (text: string, result: FunctionResult): void => {
  if (text.length * maxBytesPerUnit + maxOtherBytes <= maxResultBytes) return;
  const bytes = Buffer.byteLength(JSON.stringify(result));
  if (bytes > maxResultBytes) {
    throw new Error(`The result has ${bytes} bytes, but Lambda accepts at most ${maxResultBytes}`);
  }
};

const json = 'application/json';
const statusesWithoutBody: ReadonlySet<number> = new Set([204, 304]);

/** The error messages of an HTTP API of API Gateway. */
const gatewayMessages = {
  400: 'Bad Request',
  413: 'Request Entity Too Large',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
} as const;
type GatewayStatus = keyof typeof gatewayMessages;

export const gatewayBody = (status: GatewayStatus): string => JSON.stringify({ message: gatewayMessages[status] });

/** Sends an error of the gateway itself, in AWS's own form (contract 1, "Gateway"). */
export const sendGatewayError = (response: ServerResponse, status: GatewayStatus, more: RawHeaders = []): void => {
  if (response.headersSent || response.destroyed) return;
  const body = gatewayBody(status);
  response.writeHead(status, ['content-type', json, 'content-length', String(body.length), ...more]).end(body);
};

/** Sends a function's result. Throws if API Gateway would reject it. */
export const sendResult = (response: ServerResponse, result: FunctionResult, more: RawHeaders): void => {
  const isBody = typeof result !== 'object' || result === null || result.statusCode === undefined;
  const status = isBody ? 200 : Number(result.statusCode);
  const text = isBody ? JSON.stringify(result ?? null) : (result.body ?? '');
  const body = !isBody && result.isBase64Encoded ? Buffer.from(text, 'base64') : text;
  requireAcceptable(text, result);
  const length = Buffer.byteLength(body);
  const head: string[] = [...more];
  let contentType = isBody ? json : undefined;
  if (!isBody) {
    for (const name in result.headers) {
      const value = String(result.headers[name]);
      if (name.length === 12 && name.toLowerCase() === 'content-type') contentType = value;
      else head.push(name, value);
    }
    for (const cookie of result.cookies ?? []) head.push('set-cookie', cookie);
  }
  if (statusesWithoutBody.has(status)) {
    response.writeHead(status, head).end();
    return;
  }
  head.push('content-type', contentType ?? 'text/plain;charset=UTF-8', 'content-length', String(length));
  response.writeHead(status, head).end(body);
};
