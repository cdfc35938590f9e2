import type { ServerResponse } from 'node:http';
import type { RawHeaders } from './cors.ts';

/** What a function answers (payload 2.0); without `statusCode` the whole value is a JSON body. */
export type FunctionResult =
  | {
      readonly statusCode?: number;
      readonly headers?: Readonly<Record<string, string | number | boolean>>;
      readonly cookies?: readonly string[];
      readonly body?: string;
      readonly isBase64Encoded?: boolean;
    }
  | undefined;

/** What Lambda takes of a function: the bytes of its whole result as JSON, in which the body is a string. */
const maxResultBytes = 6_291_556;

/** The most that a UTF-16 unit of a body becomes in that JSON: a control character, escaped. */
const maxBytesPerUnit = 6;

/** No function of ours sends more than this besides a body. */
const aroundBytes = 64 * 1024;

/** Lambda refuses the whole result; most are so small that there is nothing to measure. */
const requireTakeable = (text: string, result: FunctionResult): void => {
  if (text.length * maxBytesPerUnit + aroundBytes <= maxResultBytes) return;
  const bytes = Buffer.byteLength(JSON.stringify(result));
  if (bytes > maxResultBytes) throw new Error(`The result has ${bytes} bytes; Lambda takes at most ${maxResultBytes}`);
};

const json = 'application/json';
const withoutBody: ReadonlySet<number> = new Set([204, 304]);

/** Statuses of the gateway's own answers, with the texts of an HTTP API. */
const texts = {
  400: 'Bad Request',
  413: 'Request Entity Too Large',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
} as const;
type GatewayStatus = keyof typeof texts;

export const gatewayBody = (status: GatewayStatus): string => JSON.stringify({ message: texts[status] });

/**
 * An answer of the gateway itself, where no function was asked or none answered; as plain as on AWS (contract 1,
 * "Gateway").
 */
export const answerItself = (response: ServerResponse, status: GatewayStatus, more: RawHeaders = []): void => {
  if (response.headersSent || response.destroyed) return;
  const body = gatewayBody(status);
  response.writeHead(status, ['content-type', json, 'content-length', String(body.length), ...more]).end(body);
};

/** Sends a function's answer; throws where it is none that API Gateway would take. */
export const answerWith = (response: ServerResponse, result: FunctionResult, more: RawHeaders): void => {
  const whole = typeof result !== 'object' || result === null || result.statusCode === undefined;
  const status = whole ? 200 : Number(result.statusCode);
  const text = whole ? JSON.stringify(result ?? null) : (result.body ?? '');
  const body = !whole && result.isBase64Encoded ? Buffer.from(text, 'base64') : text;
  requireTakeable(text, result);
  const length = Buffer.byteLength(body);
  const head: string[] = [...more];
  let contentType = whole ? json : undefined;
  if (!whole) {
    for (const name in result.headers) {
      const value = String(result.headers[name]);
      if (name.length === 12 && name.toLowerCase() === 'content-type') contentType = value;
      else head.push(name, value);
    }
    for (const cookie of result.cookies ?? []) head.push('set-cookie', cookie);
  }
  if (withoutBody.has(status)) {
    response.writeHead(status, head).end();
    return;
  }
  head.push('content-type', contentType ?? 'text/plain;charset=UTF-8', 'content-length', String(length));
  response.writeHead(status, head).end(body);
};
