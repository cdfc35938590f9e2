import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { targetOf } from './s3-target.ts';

const overridable = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
] as const;

/** The headers that a signed request asks to be answered with (`response-content-disposition` and the like). */
export const overridesOf = ({ method, url = '/' }: IncomingMessage, status: number): OutgoingHttpHeaders => {
  if ((method !== 'GET' && method !== 'HEAD') || status >= 300) return {};
  const { query } = targetOf(url);
  return Object.fromEntries(
    overridable.flatMap((name) => {
      const value = query.get(`response-${name}`);
      return value === null ? [] : [[name, value]];
    }),
  );
};
